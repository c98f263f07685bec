//! Mutated files: each reader takes them or says what is wrong, without a panic and within its number of operations. `HULL_FUZZ` is
//! the number of files for each reader, 300 if it is not set. A file depends on its number only.

use std::io::Cursor;

use hull_jobs::{
    Choices, Problem, Schedule, aicb, chakra, compile, matrix, simai, write_goal_text,
};

const NUMBERS: [&str; 16] = [
    "-1",
    "0",
    "1",
    "2",
    "7",
    "255",
    "256",
    "65536",
    "4294967295",
    "4294967296",
    "18446744073709551615",
    "99999999999999999999999",
    "1.5",
    "1e308",
    "nan",
    "",
];

fn choices() -> Choices {
    Choices {
        most_operations: 5000,
        ..Choices::default()
    }
}

/// Bits by xorshift64* (Vigna, 2016), from a number.
struct Bits(u64);

impl Bits {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() >> 33) as usize % end.max(1)
    }
}

fn mutate(bits: &mut Bits, bytes: &mut Vec<u8>, others: &[&[u8]]) {
    let at = bits.below(bytes.len() + 1);
    let end = (at + 1 + bits.below(40)).min(bytes.len());
    match bits.below(9) {
        0 => bytes.truncate(at),
        1 => drop(bytes.drain(at..end)),
        2 => {
            let again = bytes[at..end].to_vec();
            bytes.splice(at..at, again);
        }
        3 => bytes.insert(at, bits.next() as u8),
        4 | 5 if at < bytes.len() => bytes[at] ^= 1 << bits.below(8),
        4 | 5 => bytes.push(0xff),
        6 => {
            // Another number in the place of one.
            let is_digit = |byte: &u8| byte.is_ascii_digit();
            let Some(start) = bytes[at..].iter().position(is_digit) else {
                return;
            };
            let start = at + start;
            let len = bytes[start..]
                .iter()
                .take_while(|byte| is_digit(byte))
                .count();
            let number = NUMBERS[bits.below(NUMBERS.len())];
            bytes.splice(start..start + len, number.bytes());
        }
        7 => {
            let other = others[bits.below(others.len())];
            let from = bits.below(other.len() + 1);
            let until = (from + bits.below(60)).min(other.len());
            bytes.splice(at..end, other[from..until].iter().copied());
        }
        _ => {
            // Two lines change places.
            let mut lines = Vec::from_iter(bytes.split_inclusive(|&byte| byte == b'\n'));
            let (first, second) = (bits.below(lines.len()), bits.below(lines.len()));
            if !lines.is_empty() {
                lines.swap(first, second);
            }
            *bytes = lines.concat();
        }
    }
}

/// Gives mutations of the files to a reader. Some must be read and some refused, with a place or a reason.
fn fuzz(files: &[&[u8]], mut read: impl FnMut(&[u8]) -> Result<(), Problem>) {
    let count = std::env::var("HULL_FUZZ").map_or(300, |count| count.parse().unwrap());
    let mut taken = 0_u64;
    for number in 0..count {
        let mut bits = Bits((number + 1_u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut bytes = files[bits.below(files.len())].to_vec();
        for _ in 0..=bits.below(3) {
            mutate(&mut bits, &mut bytes, files);
        }
        match read(&bytes) {
            Ok(()) => taken += 1,
            Err(problem) => assert!(!problem.told.is_empty(), "file {number}"),
        }
    }
    assert!(taken > 0 && taken < count, "{taken} of {count} were read");
}

/// Gives mutations of texts to a reader.
fn fuzz_text(files: &[&str], mut read: impl FnMut(&str) -> Result<(), Problem>) {
    let files = Vec::from_iter(files.iter().map(|file| file.as_bytes()));
    fuzz(&files, |bytes| read(&String::from_utf8_lossy(bytes)));
}

macro_rules! schedule {
    ($name:literal) => {
        include_str!(concat!("../../../tests/schedules/", $name))
    };
}

#[test]
fn layers() {
    let micro = "MICRO\n2\na -1 1 NONE 0 1 ALLGATHER_EP 10 1 ALLTOALL 4096 1\n\
        b 3 1 BROADCAST 5 1 NONE 0 1 REDUCESCATTER_DP_EP 77 1\n";
    let again = "HYBRID_TRANSFORMER_FWD_IN_BCKWD ep: 2 pp: 2 checkpoints: 2 0 1 checkpoint_initiates: 1 1\n2\n\
        a -1 1 NONE 0 1 NONE 0 1 ALLTOALL_EP 9 1\nb -1 1 NONE 0 1 NONE 0 1 NONE 0 1\n";
    fuzz_text(&[schedule!("two_layers.simai.txt"), micro, again], |text| {
        simai::job(&simai::read(text)?, &choices()).map(drop)
    });
}

#[test]
fn tables() {
    let stages = "comm_type,comm_group,comm_group_size,msg_size,stage,dst,src,additional,_elapsed_time,algbw,busbw,count\n\
        CommType.all_reduce,CommGroup.pp_group,3,8,init,None,None,,None,None,None,1\n\
        CommType.isend,CommGroup.pp_group,1,30,f,None,None,send_next,None,None,None,1\n\
        CommType.barrier,CommGroup.all,3,1,f,None,None,,None,None,None,2\n\
        CommType.irecv,CommGroup.pp_group,1,10,b,None,None,recv_next,None,None,None,1\n";
    fuzz_text(&[schedule!("four_ranks.aicb.csv"), stages], |text| {
        aicb::job(&aicb::read(text)?, &choices()).map(drop)
    });
}

#[test]
fn matrices() {
    let copies = "Nodes 4\nConnections 3\nTriggers 2\n0->1 id 1 start 0 size 1 send_done_trigger 1 recv_done_trigger 1\n\
        0->2 id 2 trigger 1 size 10 send_done_trigger 2\n2->3 id 3 trigger 2 size 5\n\
        trigger id 1 multishot\ntrigger id 2 multishot\n";
    fuzz_text(&[schedule!("triggers.cm"), copies], |text| {
        matrix::job(&matrix::read(text)?, &choices()).map(drop)
    });
}

#[test]
fn traces() {
    let pair: [&[u8]; 2] = [
        include_bytes!("../../../tests/schedules/chakra/pair.0.et"),
        include_bytes!("../../../tests/schedules/chakra/pair.1.et"),
    ];
    let whole = pair.map(|bytes| chakra::read(bytes).unwrap());
    fuzz(&pair, |bytes| {
        let trace = chakra::read(bytes)?;
        let second = whole[1].clone();
        let traces = [trace, second].map(|trace| chakra::Named {
            file: "it.et".to_owned(),
            trace,
        });
        chakra::job(&traces, &choices()).map(drop)
    });
}

#[test]
fn schedules() {
    let chain = schedule!("chain.goal");
    fuzz_text(&[chain], |text| {
        let (out, _) = compile(text.as_bytes(), Cursor::new(Vec::new()))?;
        Schedule::from_bytes(out.into_inner()).map(drop)
    });
    let (binary, _) = compile(chain.as_bytes(), Cursor::new(Vec::new())).unwrap();
    fuzz(&[&binary.into_inner()], |bytes| {
        let mut schedule = Schedule::from_bytes(bytes.to_vec())?;
        write_goal_text(&mut schedule, &mut std::io::sink())
    });
}
