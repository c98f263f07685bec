//! The connections of a request workload, in pools of equal size: one per transport in use or, with
//! separate classes, one per size class.

use super::context::Context;
use super::request_response::Requests;

/// Connections that a class may use, and the transport of each.
#[derive(Debug)]
pub(super) struct Pools {
    /// Number of connections in a pool.
    size: usize,
    /// Number of each pool's transport.
    transports: Vec<u16>,
    /// Number of each class's pool.
    of_classes: Vec<usize>,
}

impl Pools {
    /// Creates pools of `size` connections.
    pub fn new(settings: &Requests, size: usize, context: &Context) -> Self {
        let mut transports = Vec::new();
        let pool_of = |own: &Option<String>| {
            let transport = context.transport(own.as_deref().or(settings.transport.as_deref()));
            let found = transports.iter().position(|&of| of == transport);
            let shared = found.filter(|_| !settings.separate_classes);
            shared.unwrap_or_else(|| {
                transports.push(transport);
                transports.len() - 1
            })
        };
        let own = settings.classes.iter().map(|class| &class.transport);
        Pools {
            of_classes: own.map(pool_of).collect(),
            size,
            transports,
        }
    }

    /// Number of connections in all pools.
    pub fn connections(&self) -> usize {
        self.size * self.transports.len()
    }

    /// First connection of a class's pool.
    pub fn first(&self, class: usize) -> usize {
        self.of_classes[class] * self.size
    }

    /// Number of a connection's transport.
    pub fn transport_of(&self, connection: usize) -> u16 {
        self.transports[connection / self.size]
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_network::{TestNetwork, build};
    use super::super::{Channel, Workload};

    /// Three classes, distinguished by the sizes of their responses.
    fn requests(settings: &str, own: [&str; 3]) -> String {
        let classes = [1, 2, 3].map(|kb| {
            let own = own[kb - 1];
            let share = if kb == 1 { 34 } else { 33 };
            format!("{{ size = \"{kb}KB\", share = \"{share}%\"{own} }}")
        });
        format!(
            "transports = {{ a = {{}}, b = {{}} }}\n[workload.requests]\nload = \"10%\"\n\
             connections_per_server = 4\n{settings}\nclasses = [{}]\n",
            classes.join(", ")
        )
    }

    const A: &str = ", transport = \"a\"";
    const B: &str = ", transport = \"b\"";

    #[test]
    fn a_class_uses_the_connections_of_its_transport() {
        for (settings, own, pools, of_classes) in [
            ("transport = \"b\"", ["", A, ""], &[2, 1][..], [0, 1, 0]),
            ("", [A, B, A], &[1, 2], [0, 1, 0]),
            ("", ["", A, B], &[0, 1, 2], [0, 1, 2]),
            ("separate_classes = true", [A, B, A], &[1, 2, 1], [0, 1, 2]),
        ] {
            for pick in ["random", "random_idle", "round_robin"] {
                let settings = format!("{settings}\npick = \"{pick}\"");
                let mut traffic = build_of(&settings, own);
                let transports: Vec<u16> = (0..traffic.connections().len())
                    .map(|connection| traffic.transport_of_connection(connection))
                    .collect();
                let expected: Vec<u16> = pools.iter().flat_map(|&of| [of; 12]).collect();
                assert_eq!(transports, expected, "{settings}");
                let log = TestNetwork::default().run(&mut traffic);
                let answers = log
                    .sends
                    .iter()
                    .filter(|(_, message)| message.bytes >= 1000);
                let mut used = [0; 3];
                for (_, message) in answers {
                    let Channel::Connection(connection) = message.channel else {
                        panic!("{message:?}");
                    };
                    let class = message.bytes as usize / 1000 - 1;
                    assert_eq!(connection as usize / 12, of_classes[class], "{settings}");
                    used[class] += 1;
                }
                assert!(used.iter().all(|&count| count > 100), "{used:?}");
            }
        }
    }

    fn build_of(settings: &str, own: [&str; 3]) -> super::super::Traffic {
        // `b` is used by the requests or by a class, `a` always by a class.
        let text = match settings.contains("\"b\"") || own.contains(&B) {
            true => requests(settings, own),
            false => requests(settings, own).replace(", b = {}", ""),
        };
        build(&text, 4, "1s").expect("good")
    }

    #[test]
    fn equal_transports_share_one_pool_and_draws() {
        let without = requests("", ["", "", ""]).replace("transports = { a = {}, b = {} }\n", "");
        let with = requests("", [A, A, A]).replace(", b = {}", "");
        let [without, with] = [without, with].map(|text| {
            let mut traffic = build(&text, 4, "1s").expect("good");
            TestNetwork::default().run(&mut traffic)
        });
        assert_eq!(with.connections, without.connections);
        assert_eq!(with.flows, without.flows);
    }

    #[test]
    fn equal_sizes_are_distinguished_by_transport() {
        let text = requests("", ["", A, B])
            .replace("2KB", "1KB")
            .replace("3KB", "1KB");
        let classes = build(&text, 4, "1ms").expect("good").classes().to_vec();
        assert_eq!(classes, ["1KB", "1KB a", "1KB b"]);
    }
}
