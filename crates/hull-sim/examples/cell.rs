use hull_sim::{part, scenario, simulation::Control};
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let text = std::fs::read_to_string(&args[1]).unwrap();
    let filter = &args[2];
    let cells = scenario::expand(&text, &args[1], &args[3..]).unwrap_or_else(|e| {
        eprintln!("{e}");
        std::process::exit(2)
    });
    for cell in cells {
        if !filter
            .split(',')
            .any(|f| f == "all" || format!("{}/{}", cell.condition, cell.scheme).contains(f))
        {
            continue;
        }
        let dir = std::path::PathBuf::from("/tmp/cellout");
        std::fs::create_dir_all(&dir).unwrap();
        let id = part::Identity {
            condition: cell.condition.clone(),
            scheme: cell.scheme.clone(),
            seed: cell.scenario.run.seed,
        };
        let s = part::run(&cell.scenario, id, &dir, &Control::default()).unwrap();
        let o = s.switch_latency.occupancy;
        let p = s.switch_latency.probe.as_ref().and_then(|p| p.latency);
        print!(
            "{:9} {:18} q {:7.1} {:7.1} {:7.1}",
            cell.condition.replace("load=", ""),
            cell.scheme,
            o.mean_us,
            o.p90_us,
            o.p99_us
        );
        if let Some(p) = p {
            print!(
                " | probe {:7.1} {:7.1} {:7.1}",
                p.mean_us, p.p90_us, p.p99_us
            );
        }
        for c in &s.fct {
            if let Some(f) = c.fct {
                if c.bytes > 100000 {
                    print!(
                        " | {} n{} {:6.1} {:6.1} {:6.1} ms",
                        c.class,
                        c.count,
                        f.mean_us / 1e3,
                        f.p90_us / 1e3,
                        f.p99_us / 1e3
                    );
                } else {
                    print!(
                        " | {} {:6.1} {:6.1} {:6.1}",
                        c.class, f.mean_us, f.p90_us, f.p99_us
                    );
                }
            }
        }
        println!(
            " | util {:.3} drops {} to {} rtx {} paced {} as {} | {:.1}M hops {:.2}s {:.2}M/s",
            s.throughput.utilization,
            s.drops,
            s.timeouts,
            s.retransmissions,
            s.paced,
            s.associations,
            s.packet_hops as f64 / 1e6,
            s.cpu_seconds,
            s.packet_hops as f64 / 1e6 / s.cpu_seconds
        );
    }
}
