//! SIGINT (Ctrl-C) and SIGTERM: a run ends early and keeps its results so far.

use std::io;

use tokio::signal::unix::{SignalKind, signal};

/// Listens for SIGINT and SIGTERM. The future is ready at the first signal.
pub fn stopped() -> io::Result<impl Future<Output = ()>> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}
