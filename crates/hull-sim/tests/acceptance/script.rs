//! A sender and a receiver driven by hand, without a network: a test sets when each segment arrives
//! and whether it is marked; ACKs arrive instantly. Segments have 1000 bytes and are numbered.
//! Contains no tests.

use hull_core::rack::RackConfig;
use hull_sim::scenario::Transport;
use hull_sim::transport::{
    CongestionControl, ControlName, Controller, Dctcp, Echo, Receiver, ReceiverConfig, RtoConfig,
    Sender, SenderConfig, Window,
};

pub const MSS: u64 = 1000;
pub const MS_PS: u64 = 1_000_000_000;
/// No segments sent.
pub const NOTHING: [u64; 0] = [];

/// Settings that scripts override.
pub struct Setting {
    /// Initial and maximum window, segments.
    pub window: (u64, u64),
    pub dctcp: Option<Dctcp>,
    pub min_rto_ps: u64,
    pub rto_granularity_ps: u64,
    pub idle_restart: bool,
    pub idle_decay: bool,
    pub cwnd_validation: bool,
    pub limited_transmit: bool,
    pub rack: Option<RackConfig>,
}

impl Default for Setting {
    /// NewReno with a constant window of ten segments, timeouts from 10 ms.
    fn default() -> Self {
        Setting {
            window: (10, 10),
            dctcp: None,
            min_rto_ps: 10 * MS_PS,
            rto_granularity_ps: 0,
            idle_restart: false,
            idle_decay: false,
            cwnd_validation: false,
            limited_transmit: true,
            rack: None,
        }
    }
}

pub struct Script {
    pub sender: Sender,
    pub receiver: Receiver,
    pub now_ps: u64,
    /// Numbers of the segments sent with CWR.
    pub reduced: Vec<u64>,
    /// ECN-Echo of the ACKs so far.
    pub echoes: Vec<bool>,
}

impl Script {
    /// Starts at time 0 with nothing to send.
    pub fn new(setting: Setting) -> Self {
        let (first, largest) = setting.window;
        let mut settings = Transport::default();
        let name = match setting.dctcp {
            Some(dctcp) => {
                settings.dctcp = dctcp;
                ControlName::Dctcp
            }
            None => ControlName::NewReno,
        };
        let controller = Controller::new(&name, &settings, None);
        let controller = controller.expect("one of hull's");
        let echo = controller.echo();
        Script {
            sender: Sender::new(&SenderConfig {
                window: Window::new(first * MSS, MSS as u32, 2 * MSS, largest * MSS, true),
                controller,
                rto: RtoConfig {
                    initial_ps: 100 * MS_PS,
                    min_ps: setting.min_rto_ps,
                    max_ps: 60_000 * MS_PS,
                    granularity_ps: setting.rto_granularity_ps,
                },
                receive_window: 1000 * MSS,
                idle_restart: setting.idle_restart,
                idle_decay: setting.idle_decay,
                cwnd_validation: setting.cwnd_validation,
                tso_win_divisor: 0,
                ecn: true,
                limited_transmit: setting.limited_transmit,
                handshake: false,
                samples_every_ack: false,
                samples_delivery: false,
                accurate_ecn: false,
                acknowledged: true,
                duplicate_threshold: 3,
                rack: setting.rack,
            }),
            receiver: Receiver::new(&ReceiverConfig {
                ack_every: 1,
                delayed_ack_ps: MS_PS,
                quick_acks: 0,
                echo,
                reports_duplicates: setting.rack.is_some(),
            }),
            now_ps: 0,
            reduced: Vec::new(),
            echoes: Vec::new(),
        }
    }

    /// Writes `segments` segments from the application; returns those sent at once.
    pub fn write(&mut self, segments: u64) -> Vec<u64> {
        self.sender.write(segments * MSS);
        self.send()
    }

    fn send(&mut self) -> Vec<u64> {
        let mut sent = Vec::new();
        while let Some(segment) = self.sender.poll(self.now_ps) {
            assert_eq!((segment.start % MSS, u64::from(segment.bytes)), (0, MSS));
            if segment.cwr {
                self.reduced.push(segment.start / MSS);
            }
            sent.push(segment.start / MSS);
        }
        sent
    }

    /// Delivers segment `number` and its ACKs; returns the segments sent in response.
    pub fn deliver(&mut self, number: u64) -> Vec<u64> {
        self.arrive(number, false)
    }

    /// Does the same as `deliver` with a packet marked CE.
    pub fn deliver_marked(&mut self, number: u64) -> Vec<u64> {
        self.arrive(number, true)
    }

    fn arrive(&mut self, number: u64, ce: bool) -> Vec<u64> {
        let cwr = self.reduced.last() == Some(&number);
        let acks = self
            .receiver
            .on_data(self.now_ps, number * MSS, MSS, ce, cwr);
        let mut sent = Vec::new();
        for ack in acks.into_iter().flatten() {
            self.echoes.push(ack.ece);
            let sack = ack.selective.then(|| self.receiver.sack());
            self.sender.on_ack(
                self.now_ps,
                ack.ack,
                Echo::marks(ack.ece),
                sack.as_ref().map_or(&[], |sack| sack.as_slice()),
            );
            sent.extend(self.send());
        }
        sent
    }

    /// Delivers segments in this order; returns all segments sent.
    pub fn deliver_all(&mut self, numbers: impl IntoIterator<Item = u64>) -> Vec<u64> {
        numbers
            .into_iter()
            .flat_map(|number| self.deliver(number))
            .collect()
    }

    /// Advances to the retransmission timeout; returns the segments sent.
    pub fn time_out(&mut self) -> Vec<u64> {
        self.now_ps = self.sender.rto_deadline_ps;
        self.sender.on_timeout(self.now_ps);
        self.send()
    }

    /// The congestion window, bytes.
    pub fn cwnd(&self) -> u64 {
        self.sender.window().cwnd()
    }
}
