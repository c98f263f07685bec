//! Reads the layer text: a line with the division, a line with the number of layers, and 12 words for each layer, which lines
//! may divide anywhere.

use super::{Exchange, Layer, Parallelism, Phase, Workload};
use crate::groups::Group;
use crate::problem::Problem;
use crate::text::{amount, number, refuse};

/// Words of a layer.
const WORDS: u64 = 12;

/// Reads a file.
///
/// # Errors
/// The line, what was found and what was expected.
pub fn read(text: &str) -> Result<Workload, Problem> {
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    let (second, rest) = rest.split_once('\n').unwrap_or((rest, ""));
    let mut workload = header(first)?;
    let mut words = second.split_ascii_whitespace();
    let word = words.next();
    let layers: u32 = number(2, word, "the number of layers")?;
    if let Some(more) = words.next() {
        return Err(refuse(2, Some(more), "the end of the line"));
    }
    for layer in workload.checkpoints.iter().chain(&workload.initiates) {
        if *layer >= layers {
            let expected = format!("a layer from 0 to below {layers}");
            return Err(refuse(1, Some(&layer.to_string()), &expected));
        }
    }
    let mut rest = Words::new(rest);
    for number in 0..layers {
        workload.layers.push(layer(&mut rest, number, layers)?);
    }
    workload.words_behind = std::iter::from_fn(|| rest.next()).count() as u64;
    Ok(workload)
}

/// Words with their lines, from the third line on.
struct Words<'a> {
    lines: std::str::Lines<'a>,
    words: std::str::SplitAsciiWhitespace<'a>,
    line: u64,
}

impl<'a> Words<'a> {
    fn new(text: &'a str) -> Self {
        Words {
            lines: text.lines(),
            words: "".split_ascii_whitespace(),
            line: 2,
        }
    }

    fn next(&mut self) -> Option<&'a str> {
        loop {
            if let Some(word) = self.words.next() {
                return Some(word);
            }
            self.words = self.lines.next()?.split_ascii_whitespace();
            self.line += 1;
        }
    }
}

fn header(line: &str) -> Result<Workload, Problem> {
    let mut words = line.split_ascii_whitespace();
    let word = words.next();
    let parallelism = match word {
        Some("MICRO") => Parallelism::Micro,
        Some("HYBRID_TRANSFORMER") => Parallelism::Transformer,
        Some("HYBRID_TRANSFORMER_FWD_IN_BCKWD") => Parallelism::TransformerForwardInBackward,
        _ => {
            let expected = "`MICRO`, `HYBRID_TRANSFORMER` or `HYBRID_TRANSFORMER_FWD_IN_BCKWD`";
            return Err(refuse(1, word, expected));
        }
    };
    let mut workload = Workload {
        parallelism,
        tensor: None,
        expert: None,
        pipeline: None,
        ranks: None,
        checkpoints: Vec::new(),
        initiates: Vec::new(),
        unused: Vec::new(),
        layers: Vec::new(),
        words_behind: 0,
    };
    let mut known: Vec<&str> = Vec::new();
    while let Some(word) = words.next() {
        // SimAI takes `pp_comm` without a colon too.
        let key = match word.strip_suffix(':') {
            Some(key) => key,
            None if word == "pp_comm" => word,
            None => return Err(refuse(1, Some(word), "a word with a colon, such as `ep:`")),
        };
        if known.contains(&key) {
            return Err(refuse(1, Some(word), "each word once"));
        }
        known.push(key);
        match key {
            "model_parallel_NPU_group" => workload.tensor = Some(count(key, words.next())?),
            "ep" => workload.expert = Some(count(key, words.next())?),
            "pp" => workload.pipeline = Some(count(key, words.next())?),
            "all_gpus" => workload.ranks = Some(count(key, words.next())?),
            "checkpoints" => workload.checkpoints = layers(&mut words)?,
            "checkpoint_initiates" => workload.initiates = layers(&mut words)?,
            _ => {
                let expected = format!("a number behind `{word}`");
                let value = amount(1, words.next(), &expected)?;
                workload.unused.push((key.to_owned(), value));
            }
        }
    }
    Ok(workload)
}

/// A number of ranks or stages.
fn count(key: &str, word: Option<&str>) -> Result<u32, Problem> {
    let expected = format!("a number from 1 behind `{key}:`");
    match number(1, word, &expected)? {
        0 => Err(refuse(1, word, &expected)),
        count => Ok(count),
    }
}

/// Reads a number and as many layers.
fn layers<'a>(words: &mut impl Iterator<Item = &'a str>) -> Result<Vec<u32>, Problem> {
    let count: u32 = number(1, words.next(), "a number of layers")?;
    let layers = (0..count).map(|_| number(1, words.next(), "the number of a layer, from 0"));
    layers.collect()
}

fn layer(words: &mut Words<'_>, index: u32, layers: u32) -> Result<Layer, Problem> {
    let mut next = |what: &str| {
        let word = words.next();
        match word {
            Some(word) => Ok((words.line, Some(word))),
            None => {
                let told = format!(
                    "the file ends in layer {} of {layers}; expected {what}, {WORDS} words for each layer",
                    index + 1
                );
                Err(Problem::new(format!("line {}", words.line), told))
            }
        }
    };
    let (line, name) = next("its name")?;
    let (at, word) = next("its dependency")?;
    let dependency = number(at, word, "a dependency, which is -1 for none")?;
    let mut phase = |own: Group| -> Result<Phase, Problem> {
        let (at, word) = next("a time in ns")?;
        let compute_ns = amount(at, word, "a time in ns")?;
        let (at, word) = next("a collective")?;
        let (exchange, group) = exchange(at, word, own)?;
        let (at, word) = next("a size in bytes")?;
        Ok(Phase {
            compute_ns,
            exchange,
            group,
            bytes: amount(at, word, "a size in bytes")?,
        })
    };
    let forward = phase(Group::Tensor)?;
    let input_gradient = phase(Group::Tensor)?;
    let weight_gradient = phase(Group::Data)?;
    let (at, word) = next("its update's time in ns")?;
    Ok(Layer {
        line,
        name: name.unwrap_or_default().to_owned(),
        dependency,
        forward,
        input_gradient,
        weight_gradient,
        update_ns: amount(at, word, "an update's time in ns")?,
    })
}

/// Reads a collective with its group; `own` is the one of a collective that names none.
fn exchange(line: u64, word: Option<&str>, own: Group) -> Result<(Exchange, Group), Problem> {
    let found = word.unwrap_or_default();
    let (name, group) = match found.split_once('_') {
        None => (found, own),
        Some((name, "EP")) => (name, Group::Expert),
        Some((name, "DP_EP")) => (name, Group::ExpertData),
        Some(_) => ("", own),
    };
    let exchange = match name {
        "NONE" if group == own => Exchange::None,
        "ALLREDUCE" => Exchange::AllReduce,
        "ALLGATHER" => Exchange::AllGather,
        "REDUCESCATTER" => Exchange::ReduceScatter,
        "ALLTOALL" => Exchange::AllToAll,
        "BROADCAST" => Exchange::Broadcast,
        _ => {
            let expected = "`NONE`, `BROADCAST`, or `ALLREDUCE`, `ALLGATHER`, `REDUCESCATTER` or \
                `ALLTOALL`, with `_EP` or `_DP_EP` behind it for another group";
            return Err(refuse(line, word, expected));
        }
    };
    Ok((exchange, group))
}
