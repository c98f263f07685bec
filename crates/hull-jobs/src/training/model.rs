//! Sizes of a transformer's training: parameters, floating-point operations, bytes. Formulas of Narayanan et al. (SC 2021,
//! sections 2 to 4) for dense layers; a layer of experts has `experts` times the two matrices of 4 h^2 parameters
//! each, of which a token uses `experts_per_token`.

/// Shape of a model and its batch. Symbols as in Narayanan et al.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Model {
    /// Layers (l).
    pub layers: u32,
    /// Hidden size (h).
    pub hidden: u64,
    /// Tokens of a sequence (s).
    pub sequence: u64,
    /// Vocabulary (V).
    pub vocabulary: u64,
    /// Sequences of a micro-batch (b).
    pub micro_batch: u64,
    /// Bytes of an activation's element.
    pub element_bytes: u64,
    /// Bytes of a gradient's element.
    pub gradient_bytes: u64,
    /// Experts of each layer; 0 for a dense model.
    pub experts: u64,
    /// Experts that a token uses (k).
    pub experts_per_token: u64,
}

impl Model {
    /// Bytes of a micro-batch's activations between layers: b s h elements. Also the size of each all-reduce of a
    /// tensor group.
    pub fn activation_bytes(&self) -> u64 {
        self.element_bytes * self.micro_batch * self.sequence * self.hidden
    }

    /// Parameters that all ranks of a data group share: P = 12 l h^2 (1 + 13/(12 h) + (V + s)/(12 l h)); with experts,
    /// without their 8 h^2 a layer.
    pub fn shared_parameters(&self) -> u64 {
        let of_layer = if self.experts == 0 { 12 } else { 4 };
        let h = self.hidden;
        u64::from(self.layers) * (of_layer * h * h + 13 * h) + (self.vocabulary + self.sequence) * h
    }

    /// Parameters of all experts.
    pub fn expert_parameters(&self) -> u64 {
        u64::from(self.layers) * self.experts * 8 * self.hidden * self.hidden
    }

    /// Floating-point operations of a layer for a micro-batch, forward: 24 b s h^2 (1 + s/(6 h)), where the matrices of
    /// a layer's second part count once for each expert that a token uses.
    pub fn forward_flop(&self) -> f64 {
        let (b, s, h) = (
            self.micro_batch as f64,
            self.sequence as f64,
            self.hidden as f64,
        );
        let uses = if self.experts == 0 {
            1.0
        } else {
            self.experts_per_token as f64
        };
        b * s * h * h * (8.0 + 16.0 * uses) + 4.0 * b * s * s * h
    }

    /// Floating-point operations of the logits for a micro-batch, forward: 2 b s h V.
    pub fn logit_flop(&self) -> f64 {
        let tokens = (self.micro_batch * self.sequence) as f64;
        2.0 * tokens * self.hidden as f64 * self.vocabulary as f64
    }

    /// Bytes that a rank sends in each all-to-all of experts, its own part included: k h elements for each of its tokens.
    pub fn dispatched_bytes(&self) -> u64 {
        self.experts_per_token * self.activation_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gpt(layers: u32, hidden: u64) -> Model {
        Model {
            layers,
            hidden,
            sequence: 2048,
            vocabulary: 51_200,
            micro_batch: 1,
            element_bytes: 2,
            gradient_bytes: 4,
            experts: 0,
            experts_per_token: 0,
        }
    }

    /// The paper's table of models: 96 layers of 12,288 are 174.6 billion parameters, 24 of 2,304 are 1.7 billion.
    #[test]
    fn parameters_are_those_of_the_table() {
        let billions = |layers, hidden| gpt(layers, hidden).shared_parameters() as f64 / 1e9;
        assert!((billions(96, 12_288) - 174.6).abs() < 0.1);
        assert!((billions(24, 2304) - 1.7).abs() < 0.05);
    }

    /// e b s h = 50,331,648 for GPT-175B, as in a trace of SimAI, and 16,777,216 for Llama 7B.
    #[test]
    fn activations_are_those_of_traces() {
        assert_eq!(gpt(96, 12_288).activation_bytes(), 50_331_648);
        assert_eq!(gpt(32, 4096).activation_bytes(), 16_777_216);
    }

    /// 96 B s l h^2 (1 + s/(6 h) + V/(16 l h)) with activations computed twice, for a batch of one sequence.
    #[test]
    fn operations_add_up_to_the_paper() {
        let model = gpt(96, 12_288);
        let (s, l, h, v) = (2048.0, 96.0, 12_288.0, 51_200.0);
        let paper = 96.0 * s * l * h * h * (1.0 + s / (6.0 * h) + v / (16.0 * l * h));
        let ours = 4.0 * l * model.forward_flop() + 3.0 * model.logit_flop();
        assert!((ours / paper - 1.0).abs() < 1e-9, "{ours} {paper}");
    }
}
