//! The user's wish to stop.

use std::io;
use std::mem;
use std::sync::Arc;

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

/// Tells, to all who hold a clone, whether the user wants to stop.
#[derive(Clone, Debug)]
pub struct Interrupt {
    wish: watch::Receiver<bool>,
}

/// Makes the wish. Dropped, it never will.
#[derive(Clone, Debug)]
pub struct Trigger(Arc<watch::Sender<bool>>);

impl Trigger {
    /// Wishes to stop.
    pub fn set(&self) {
        self.0.send_replace(true);
    }
}

impl Interrupt {
    /// One that its trigger sets.
    pub fn manual() -> (Trigger, Self) {
        let (sender, wish) = watch::channel(false);
        (Trigger(Arc::new(sender)), Self { wish })
    }

    /// One that is never set.
    pub fn never() -> Self {
        Self::manual().1
    }

    /// One that SIGINT, SIGTERM and, unless it is ignored (`nohup`), SIGHUP set. Must be called within
    /// a tokio runtime.
    ///
    /// # Errors
    /// When a signal cannot be listened to.
    pub fn on_signals() -> io::Result<Self> {
        let (trigger, interrupt) = Self::manual();
        let mut kinds = vec![SignalKind::interrupt(), SignalKind::terminate()];
        if !is_ignored(libc::SIGHUP) {
            kinds.push(SignalKind::hangup());
        }
        for kind in kinds {
            let mut signals = signal(kind)?;
            let trigger = trigger.clone();
            tokio::spawn(async move {
                if signals.recv().await.is_some() {
                    trigger.set();
                }
            });
        }
        Ok(interrupt)
    }

    /// Whether it is set.
    pub fn is_set(&self) -> bool {
        *self.wish.borrow()
    }

    /// Waits until it is set; for ever where it never will be.
    pub async fn wait(&mut self) {
        if self.wish.wait_for(|wish| *wish).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

fn is_ignored(signal: i32) -> bool {
    // SAFETY: sigaction is plain data, for which zeroes are a value.
    let mut now: libc::sigaction = unsafe { mem::zeroed() };
    // SAFETY: asks only; `now` is a valid place for the answer.
    let asked = unsafe { libc::sigaction(signal, std::ptr::null(), &raw mut now) };
    asked == 0 && now.sa_sigaction == libc::SIG_IGN
}
