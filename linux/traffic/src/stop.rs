//! Ctrl-C and the request to terminate: a run ends early and keeps what it has.

use std::io;

use tokio::signal::unix::{SignalKind, signal};

/// Begins to listen for SIGINT and SIGTERM; what it returns is ready at the first of them.
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
