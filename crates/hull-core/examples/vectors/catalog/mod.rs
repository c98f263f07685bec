//! The vectors of all algorithms, and the form in which they are written and run.

mod dcqcn;
mod dctcp;
mod dctcp_rate;
mod departure_pacer;
mod dualpi2;
mod ecn_echo;
mod flow_association;
mod marking;
mod nscc;
mod pacer;
mod phantom_queue;
mod timely;
mod uno_phantom_queue;

use serde_json::{Value, json};

/// Runs the steps' inputs through the algorithm: one output per step.
pub type Run = fn(config: &Value, inputs: &[Value]) -> Vec<Value>;

/// One algorithm: a file of vectors.
pub struct Algorithm {
    /// Name of the file, without its ending.
    pub name: &'static str,
    /// Meaning of the inputs, outputs and settings, with units.
    pub description: &'static str,
    /// The implementation in this crate.
    pub run: Run,
    /// The vectors.
    pub vectors: Vec<Vector>,
}

/// One vector.
pub struct Vector {
    name: &'static str,
    by: &'static str,
    description: &'static str,
    config: Value,
    steps: Vec<(Value, Option<Value>)>,
}

/// A vector whose outputs come from this crate.
pub fn computed(
    name: &'static str,
    description: &'static str,
    config: Value,
    inputs: Vec<Value>,
) -> Vector {
    Vector {
        name,
        by: "hull-core",
        description,
        config,
        steps: inputs.into_iter().map(|input| (input, None)).collect(),
    }
}

/// A vector whose outputs were worked out by hand: pairs of input and output.
pub fn by_hand(
    name: &'static str,
    description: &'static str,
    config: Value,
    steps: Vec<(Value, Value)>,
) -> Vector {
    Vector {
        name,
        by: "hand",
        description,
        config,
        steps: steps
            .into_iter()
            .map(|(input, output)| (input, Some(output)))
            .collect(),
    }
}

/// All algorithms, in the order in which a packet meets them.
pub fn algorithms() -> Vec<Algorithm> {
    vec![
        flow_association::algorithm(),
        pacer::algorithm(),
        departure_pacer::algorithm(),
        marking::algorithm(),
        phantom_queue::algorithm(),
        uno_phantom_queue::algorithm(),
        dualpi2::algorithm(),
        ecn_echo::algorithm(),
        dctcp::algorithm(),
        nscc::algorithm(),
        dcqcn::algorithm(),
        dctcp_rate::algorithm(),
        timely::algorithm(),
    ]
}

impl Algorithm {
    /// The file's text: one line per step, so that a change shows as few lines.
    pub fn to_json(&self) -> String {
        let vectors: Vec<String> = self.vectors.iter().map(|v| v.to_json(self.run)).collect();
        format!(
            "{{\n\"algorithm\": {},\n\"description\": {},\n\"vectors\": [\n{}\n]\n}}\n",
            json!(self.name),
            json!(self.description),
            vectors.join(",\n")
        )
    }
}

impl Vector {
    fn to_json(&self, run: Run) -> String {
        let inputs: Vec<Value> = self.steps.iter().map(|(input, _)| input.clone()).collect();
        let computed = run(&self.config, &inputs);
        let steps: Vec<String> = self
            .steps
            .iter()
            .zip(computed)
            .map(|((input, by_hand), computed)| {
                let output = by_hand.clone().unwrap_or(computed);
                format!("    {{\"in\": {input}, \"out\": {output}}}")
            })
            .collect();
        format!(
            "  {{\n  \"name\": {},\n  \"by\": {},\n  \"description\": {},\n  \"config\": {},\n  \"steps\": [\n{}\n  ]\n  }}",
            json!(self.name),
            json!(self.by),
            json!(self.description),
            self.config,
            steps.join(",\n")
        )
    }
}

/// The unsigned number at `key`.
pub fn number(value: &Value, key: &str) -> u64 {
    value[key]
        .as_u64()
        .unwrap_or_else(|| panic!("{key} must be an unsigned number in {value}"))
}

/// The 32-bit number at `key`.
pub fn number32(value: &Value, key: &str) -> u32 {
    u32::try_from(number(value, key)).unwrap_or_else(|_| panic!("{key} must fit 32 bits"))
}

/// The boolean at `key`.
pub fn boolean(value: &Value, key: &str) -> bool {
    value[key]
        .as_bool()
        .unwrap_or_else(|| panic!("{key} must be true or false in {value}"))
}

/// The word at `key`.
pub fn word<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key]
        .as_str()
        .unwrap_or_else(|| panic!("{key} must be a word in {value}"))
}

/// Small reproducible pseudo-random numbers (SplitMix64) for the inputs of long vectors.
pub struct Numbers(pub u64);

impl Numbers {
    /// The next 64 bits.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from `low` up to but without `high`.
    pub fn range(&mut self, low: u64, high: u64) -> u64 {
        low + self.next() % (high - low)
    }
}
