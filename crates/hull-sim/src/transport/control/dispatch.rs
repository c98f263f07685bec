//! Declares the congestion controls once: their names in scenarios, the controls of each transport as an
//! enum, and its dispatch.

/// Generates from the list the names for scenarios and an enum of controls for each transport.
macro_rules! controls {
    (
        of streams { $($(#[$doc:meta])* $name:ident, $text:literal: $control:ty = $new:expr;)* }
        of messages {
            $(
                $(#[$message_doc:meta])*
                $message:ident, $message_text:literal: $message_control:ty = $message_new:expr;
            )*
        }
    ) => {
        /// Congestion control algorithms.
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[serde(from = "String", into = "String")]
        #[schemars(!from, !into, rename = "CongestionControl", extend("x-open" = true))]
        pub enum ControlName {
            $($(#[$doc])* #[serde(rename = $text)] $name,)*
            $($(#[$message_doc])* #[serde(rename = $message_text)] $message,)*
            /// External control with this name.
            #[schemars(skip)]
            External(String),
        }

        impl ControlName {
            /// Built-in controls of TCP and of rate-based sources.
            pub const BUILT_IN: &[ControlName] = &[$(ControlName::$name),*];

            /// Controls of the message transport.
            pub const OF_MESSAGES: &[ControlName] = &[$(ControlName::$message),*];

            /// Names of all built-in controls.
            pub fn names() -> Vec<String> {
                let all = Self::BUILT_IN.iter().chain(Self::OF_MESSAGES);
                all.map(ToString::to_string).collect()
            }
        }

        impl std::fmt::Display for ControlName {
            /// Writes the name as in a scenario.
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(match self {
                    $(ControlName::$name => $text,)*
                    $(ControlName::$message => $message_text,)*
                    ControlName::External(name) => name,
                })
            }
        }

        impl From<String> for ControlName {
            fn from(name: String) -> Self {
                let all = ControlName::BUILT_IN.iter();
                let mut all = all.chain(ControlName::OF_MESSAGES);
                let found = all.find(|control| control.to_string() == name);
                found.cloned().unwrap_or(ControlName::External(name))
            }
        }

        impl From<ControlName> for String {
            fn from(control: ControlName) -> Self {
                control.to_string()
            }
        }

        dispatch! {
            /// Control state of one stream.
            Controller {
                $($(#[$doc])* $name: $control,)*
                /// External control.
                External: ExternalControl,
            }
        }

        impl Controller {
            /// Creates the control with this name. An external one is created from `external`.
            /// Returns `None` if that is missing, and for controls of the message transport.
            pub fn new(
                name: &ControlName,
                settings: &impl Settings,
                external: Option<&dyn External>,
            ) -> Option<Self> {
                /// Tells the compiler the types of an entry of the list.
                fn of<S: Settings, C>(settings: &S, new: impl Fn(&S) -> C) -> C {
                    new(settings)
                }
                match name {
                    $(ControlName::$name => {
                        Some(Controller::$name(of(settings, $new)))
                    })*
                    ControlName::External(_) => {
                        Some(Controller::External(ExternalControl::new(external?)))
                    }
                    $(ControlName::$message)|* => None,
                }
            }
        }

        dispatch! {
            /// Control state of one connection of the message transport.
            MessageController {
                $($(#[$message_doc])* $message: $message_control,)*
                /// External control.
                External: ExternalControl,
            }
        }

        impl MessageController {
            /// Creates the control with this name for a path. An external one is created from
            /// `external`. Returns `None` if that is missing, and for controls of streams.
            pub fn new(
                name: &ControlName,
                path: &Path,
                settings: &impl Settings,
                external: Option<&dyn External>,
            ) -> Option<Self> {
                /// Tells the compiler the types of an entry of the list.
                fn of<S: Settings, C>(
                    (path, settings): (&Path, &S),
                    new: impl Fn(&Path, &S) -> C,
                ) -> C {
                    new(path, settings)
                }
                match name {
                    $(ControlName::$message => {
                        let control = of((path, settings), $message_new);
                        Some(MessageController::$message(control))
                    })*
                    ControlName::External(_) => {
                        Some(MessageController::External(ExternalControl::new(external?)))
                    }
                    $(ControlName::$name)|* => None,
                }
            }
        }
    };
}

/// Generates the enum of a transport's controls, and methods that call the control's.
macro_rules! dispatch {
    ($(#[$doc:meta])* $enum:ident { $($(#[$control_doc:meta])* $name:ident: $control:ty,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub enum $enum {
            $($(#[$control_doc])* $name($control),)*
        }

        impl CongestionControl for $enum {
            forward! { $enum [$($name)*] }

            fn send_times(&mut self) -> Option<&mut SendTimes> {
                each!(self, $enum [$($name)*], send_times())
            }
        }
    };
}

/// Generates all methods of the trait but `send_times`: they call the control in any variant of an enum,
/// or a `boxed` one.
macro_rules! forward {
    ($target:ident $variants:tt) => {
        forward! {
            $target $variants
            changes {
                fn on_start(start: &Start);
                #[inline] fn on_ack(window: &mut Window, ack: &Feedback) -> bool;
                fn on_loss(window: &mut Window, flight: u64);
                fn on_timeout(window: &mut Window, flight: u64);
                fn on_packet_lost(window: &mut Window, lost: &LostPacket);
                #[inline] fn on_restart(idle_ps: u64);
                fn on_notice(now_ps: u64, notice: Notice);
                fn on_sent(now_ps: u64, wire_bytes: u16) -> Pace;
                fn on_credit(granted: u64);
                fn delivery_rate() -> Option<&mut DeliveryRate>;
            }
            reads {
                fn prefetch() -> ();
                fn sets_pace() -> bool;
                fn pace() -> Pace;
                fn adjusts_gap() -> bool;
                fn is_paced_by_host() -> bool;
                fn own_window_bytes() -> Option<u64>;
                fn grants_credit() -> bool;
                fn lacks_credit() -> bool;
                fn demand(backlog: &Backlog) -> Option<u64>;
                fn ask(srtt_ps: u64) -> InBand;
                fn samples_every_ack() -> bool;
                fn samples_delivery() -> bool;
                fn holds_window() -> bool;
                fn echo() -> EchoKind;
                fn is_l4s() -> bool;
                fn alpha() -> Option<f64>;
            }
        }
    };
    (
        $target:ident $variants:tt
        changes {
            $($(#[$hint:meta])* fn $change:ident($($argument:ident: $type:ty),*) $(-> $answer:ty)?;)*
        }
        reads { $(fn $read:ident($($given:ident: $given_type:ty),*) -> $value:ty;)* }
    ) => {
        $(
            $(#[$hint])*
            fn $change(&mut self, $($argument: $type),*) $(-> $answer)? {
                each!(self, $target $variants, $change($($argument),*))
            }
        )*
        $(
            fn $read(&self, $($given: $given_type),*) -> $value {
                each!(self, $target $variants, $read($($given),*))
            }
        )*
    };
}

/// Calls a method of the control that is boxed or in a variant.
macro_rules! each {
    ($self:expr, boxed [], $method:ident $arguments:tt) => {
        $self.0.$method $arguments
    };
    ($self:expr, $enum:ident [$($name:ident)*], $method:ident $arguments:tt) => {
        match $self {
            $($enum::$name(control) => control.$method $arguments,)*
        }
    };
}
