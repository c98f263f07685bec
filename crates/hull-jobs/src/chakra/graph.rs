//! The graph of work of a trace. The n-th collectives of the ranks of a group are one collective.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::{Named, Node, NodeKind};
use crate::choices::Choices;
use crate::collective::{AllReduce, AllToAll, Broadcast, Halves, Operation};
use crate::form::Form;
use crate::job::Job;
use crate::maker::Maker;
use crate::problem::Problem;
use crate::program::After;

/// `comm_type` of a barrier.
const BARRIER: u64 = 9;

/// Makes a job of the traces of all ranks: rings for all-reduce, all-gather and reduce-scatter, pairwise all-to-alls, binomial
/// trees for broadcast and reduce.
///
/// # Errors
/// The file and byte of a node that cannot be carried out; too many operations.
pub fn job(traces: &[Named], choices: &Choices) -> Result<Job, Problem> {
    let ranks = traces.len() as u32;
    if choices.ranks.is_some_and(|wanted| wanted != ranks) {
        let wanted = choices.ranks.unwrap_or_default();
        return Err(Problem::new(
            "",
            format!("{ranks} traces; expected {wanted}, one for each rank"),
        ));
    }
    let mut graph = Graph {
        maker: Maker::new("", ranks, choices)?,
        traces,
        tags: BTreeMap::new(),
        ends: vec![Vec::new(); ranks as usize],
    };
    graph.number_tags();
    let mut collectives: BTreeMap<&Option<String>, BTreeMap<u32, Vec<usize>>> = BTreeMap::new();
    for (rank, named) in (0..).zip(traces) {
        for (index, node) in named.trace.nodes.iter().enumerate() {
            graph.add(rank, node)?;
            if node.kind == NodeKind::Collective {
                let group = collectives.entry(&node.group).or_default();
                group.entry(rank).or_default().push(index);
            }
        }
        graph
            .maker
            .remarks
            .add("attributes without effect", named.trace.unused);
    }
    for (group, members) in collectives {
        graph.collectives(group.as_deref(), &members)?;
    }
    for rank in 0..ranks {
        graph.needs(rank)?;
    }
    graph.maker.finish(Form::ChakraTrace)
}

struct Graph<'a> {
    maker: Maker,
    traces: &'a [Named],
    /// Tags of sends and receives, which collectives do not use.
    tags: BTreeMap<u64, u32>,
    /// Per rank, the first and the last operation of each node.
    ends: Vec<Vec<(u32, After)>>,
}

impl Graph<'_> {
    fn number_tags(&mut self) {
        let nodes = self.traces.iter().flat_map(|named| &named.trace.nodes);
        let used: BTreeSet<u64> = nodes.map(|node| node.tag.unwrap_or_default()).collect();
        for tag in used {
            self.tags.insert(tag, self.maker.program.tags(1));
        }
    }

    fn place(&self, rank: u32, node: &Node) -> String {
        format!("{}, byte {}", self.traces[rank as usize].file, node.at)
    }

    fn wrong<T>(&self, rank: u32, node: &Node, told: &str) -> Result<T, Problem> {
        let told = format!("node {}: {told}", node.id);
        Err(Problem::new(self.place(rank, node), told))
    }

    /// Adds the operation of a node; of a collective, what its begin joins.
    fn add(&mut self, rank: u32, node: &Node) -> Result<(), Problem> {
        let place = self.place(rank, node);
        let needs = node.control_needs.len() + node.data_needs.len();
        self.maker.grow(&place, 1 + needs as u64)?;
        let first = match node.kind {
            NodeKind::Metadata | NodeKind::Collective => self.maker.program.join(rank, &[]),
            NodeKind::Load | NodeKind::Store => {
                let remark = "memory accesses, which take their duration beside computations";
                self.maker.remarks.add(remark, 1);
                let ns = self.duration_ns(rank, node)?;
                self.maker.program.compute_beside(rank, ns, &[])
            }
            NodeKind::Compute => {
                let ns = self.duration_ns(rank, node)?;
                let is_short = u64::from(ns == 0);
                self.maker
                    .remarks
                    .add("computations without a duration", is_short);
                if node.on_host {
                    self.maker.program.compute_beside(rank, ns, &[])
                } else {
                    self.maker.program.compute(rank, ns, &[])
                }
            }
            NodeKind::Send => self.message(rank, node)?,
            // Posted at once: a rank whose receive waits for its own send must not hold up the message to it.
            NodeKind::Receive => {
                self.maker.grow(&place, 1)?;
                let received = self.message(rank, node)?;
                self.maker.program.join(rank, &[Some(received)])
            }
        };
        self.ends[rank as usize].push((first, Some(first)));
        Ok(())
    }

    fn duration_ns(&self, rank: u32, node: &Node) -> Result<u64, Problem> {
        match node.duration_us.checked_mul(1000) {
            Some(ns) => Ok(ns),
            None => self.wrong(rank, node, "a duration of more than 2^64 ns"),
        }
    }

    fn message(&mut self, rank: u32, node: &Node) -> Result<u32, Problem> {
        let is_send = node.kind == NodeKind::Send;
        let (own, other, name) = if is_send {
            (node.from, node.to, "comm_dst")
        } else {
            (node.to, node.from, "comm_src")
        };
        if own.is_some_and(|own| own != u64::from(rank)) {
            let told = format!(
                "a message of rank {}; expected its own",
                own.unwrap_or_default()
            );
            return self.wrong(rank, node, &told);
        }
        let ranks = self.traces.len();
        let Some(other) = other.filter(|&other| other < ranks as u64) else {
            let told = format!("expected `{name}`, a rank from 0 to {}", ranks - 1);
            return self.wrong(rank, node, &told);
        };
        let Some(bytes) = node.bytes else {
            return self.wrong(rank, node, "expected `comm_size`, a size in bytes");
        };
        let ends = (rank, other as u32);
        let tag = self.tags[&node.tag.unwrap_or_default()];
        let program = &mut self.maker.program;
        Ok(if is_send {
            program.send(ends, bytes, tag, &[])
        } else {
            program.receive(ends, bytes, tag, &[])
        })
    }

    /// Adds the collectives of a group: of each member, the nodes that take part, in the order of its file.
    fn collectives(
        &mut self,
        group: Option<&str>,
        members: &BTreeMap<u32, Vec<usize>>,
    ) -> Result<(), Problem> {
        let ranks = Vec::from_iter(members.keys().copied());
        if group.is_none() && ranks.len() < self.traces.len() {
            let missing = (0..).find(|rank| !members.contains_key(rank));
            let missing = &self.traces[missing.unwrap_or(0_u32) as usize].file;
            let told = "no collective; expected as many as in the traces of the other ranks";
            return Err(Problem::new(missing, told));
        }
        let mut lists = members.iter();
        let Some((&leader, list)) = lists.next() else {
            return Ok(());
        };
        for (&rank, other) in lists {
            if other.len() != list.len() {
                let told = format!(
                    "{} collectives of {}; expected {}, as in `{}`",
                    other.len(),
                    group.map_or("all ranks".to_owned(), |name| format!("group `{name}`")),
                    list.len(),
                    self.traces[leader as usize].file
                );
                return Err(Problem::new(&self.traces[rank as usize].file, told));
            }
        }
        for number in 0..list.len() {
            let nodes = members.iter().map(|(&rank, list)| (rank, list[number]));
            self.collective(&ranks, Vec::from_iter(nodes))?;
        }
        Ok(())
    }

    fn collective(&mut self, ranks: &[u32], nodes: Vec<(u32, usize)>) -> Result<(), Problem> {
        let traces = self.traces;
        let node = |rank: u32, index: usize| &traces[rank as usize].trace.nodes[index];
        let (leader, index) = nodes[0];
        let first = node(leader, index);
        for &(rank, index) in &nodes {
            let other = node(rank, index);
            if (other.collective, other.bytes) != (first.collective, first.bytes) {
                let told = |node: &Node| {
                    let (kind, bytes) = (said(node.collective), said(node.bytes));
                    format!("comm_type {kind} and comm_size {bytes}")
                };
                let told = format!(
                    "{}; expected {}, as in node {} of `{}`",
                    told(other),
                    told(first),
                    first.id,
                    traces[leader as usize].file
                );
                return self.wrong(rank, other, &told);
            }
        }
        let no_bytes = (first.collective == Some(BARRIER)).then_some(0);
        let Some(bytes) = first.bytes.or(no_bytes) else {
            return self.wrong(leader, first, "expected `comm_size`, a size in bytes");
        };
        let Some((operation, bytes)) = operation(first.collective, bytes, ranks.len() as u64)
        else {
            let told = format!(
                "comm_type {} of {bytes} bytes; expected 0 (all-reduce), 1 (reduce), 2 (all-gather), 5 (broadcast), \
                 6 (all-to-all), 7 or 8 (reduce-scatter) or 9 (barrier)",
                said(first.collective)
            );
            return self.wrong(leader, first, &told);
        };
        if ranks.len() < 2 || bytes == 0 {
            self.maker.remarks.add("collectives without messages", 1);
            return Ok(());
        }
        let after = nodes
            .iter()
            .map(|&(rank, index)| self.ends[rank as usize][index].1);
        let after = Vec::from_iter(after);
        let place = self.place(leader, first);
        let what = (operation.name(), operation, bytes);
        let last = self.maker.collective(&place, what, ranks, &after)?;
        for ((rank, index), last) in nodes.into_iter().zip(last) {
            self.ends[rank as usize][index].1 = last;
        }
        Ok(())
    }

    /// Adds what the nodes of a rank wait for.
    fn needs(&mut self, rank: u32) -> Result<(), Problem> {
        let nodes = &self.traces[rank as usize].trace.nodes;
        let mut known: HashMap<u64, usize> = HashMap::with_capacity(nodes.len());
        for (index, node) in nodes.iter().enumerate() {
            if known.insert(node.id, index).is_some() {
                return self.wrong(rank, node, "a second node of this number");
            }
        }
        for (index, node) in nodes.iter().enumerate() {
            let needs: BTreeSet<u64> = node
                .control_needs
                .iter()
                .chain(&node.data_needs)
                .copied()
                .collect();
            for need in needs {
                let Some(&before) = known.get(&need) else {
                    let told = format!("waits for node {need}, which the trace does not have");
                    return self.wrong(rank, node, &told);
                };
                let ends = &self.ends[rank as usize];
                let (later, earlier) = (ends[index].0, ends[before].1);
                if let Some(earlier) = earlier {
                    self.maker.program.requires(rank, later, earlier);
                }
            }
        }
        Ok(())
    }
}

/// A collective and its size as NCCL counts it. ASTRA-sim's size of an all-gather is what each rank has before it (its
/// `Ring.cc`); of a barrier, nothing.
fn operation(number: Option<u64>, bytes: u64, n: u64) -> Option<(Operation, u64)> {
    Some(match number? {
        0 => (Operation::AllReduce(AllReduce::Ring), bytes),
        1 => (Operation::Reduce, bytes),
        2 => (Operation::AllGather(Halves::Ring), bytes.checked_mul(n)?),
        5 => (Operation::Broadcast(Broadcast::Binomial), bytes),
        6 => (Operation::AllToAll(AllToAll::Pairwise), bytes),
        7 | 8 => (Operation::ReduceScatter(Halves::Ring), bytes),
        BARRIER => (Operation::AllReduce(AllReduce::RecursiveDoubling), 1),
        _ => return None,
    })
}

/// A number for a message.
fn said(number: Option<u64>) -> String {
    number.map_or("none".to_owned(), |number| number.to_string())
}
