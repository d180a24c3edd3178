//! The fork server: the program comes to where its first kernel begins once, and each trial is a fork of it from there.
//!
//! The idea is AFL's (Zalewski, "Fuzzing random programs without execve()", 2014), with the fork put
//! off as far as it may be: before the first kernel begins nothing depends on what differs between trials, as
//! seed, probability and fence sites are data that launches read. What a process costs at its start
//! (linking, reading and instrumenting and decoding PTX, inputs made and copied) is paid once.
//!
//! **Departures.** Trials run beside each other, each with a group, outputs and a report of its own, and
//! the server kills what is left of a group when its leader ends. A program forks only where that
//! shows nowhere else ([`examine`]); otherwise it goes on as the process that it is.
//!
//! **What a trial can tell.** Its process has another parent; clocks ran on since the start; what the
//! program asked its process id for before is the server's; host addresses and what the program drew
//! from the system's source of randomness before are the same in all trials.

mod examine;
mod files;
mod heap;
pub mod lessons;
pub mod pages;
mod python;
mod socket;
mod unheard;

use std::os::fd::{AsRawFd, OwnedFd};

use bugaroo_protocol::{ForkServer, FromServer, Message, ORDERS_VARIABLE, Orders, ToServer};
use rustix::io::retry_on_intr;
use rustix::process::{
    Pid, Signal, WaitOptions, getppid, kill_process, kill_process_group, set_parent_process_death_signal,
    setpgid, waitpid,
};

use crate::own_process;
use crate::trial::fork_server::files::pidfd;
use crate::trial::injection::Injection;
use crate::trial::report::ReportPipe;

use examine::Examined;
use pages::Pages;
use socket::Socket;

/// Trials at a time that no vector has to grow for.
const CHILDREN: usize = 64;

/// A trial that runs.
struct Child {
    id: u64,
    pid: Pid,
    /// Becomes readable when the trial has ended.
    pidfd: OwnedFd,
}

/// What the device does that trials are forked from.
pub trait Served {
    /// Called before the first fork: makes ready to be forked, and to learn from trials.
    fn prepare(&mut self);

    /// Called when trials have ended: learns from them; whether there was anything to learn.
    fn learn(&mut self) -> bool;
}

/// Called before the first kernel begins and before the first draw by the seed, or at the first launch: tells the harness, or
/// serves it, if the orders want that. Returns in each trial, with its orders; in the server itself only where it is to go on as
/// a process like any other. Later calls do nothing.
pub fn fork_from_here(
    injection: &mut Injection,
    report: &mut ReportPipe,
    device: &mut impl Served,
) -> Option<Injection> {
    let wanted = injection.take_fork_server()?;
    let examined = examine::examine(&wanted, report.descriptor());
    let Some(descriptor) = wanted.control_fd else {
        report.send(&match examined {
            Ok(_) => Message::FirstLaunch { cannot_fork: None },
            Err(why) => Message::FirstLaunch { cannot_fork: Some(why) },
        });
        return None;
    };
    // Closed whenever this returns: in the trials, and where there is to be no server.
    let socket = Socket::of(descriptor)?;
    match examined {
        Err(why) => {
            socket.send(&FromServer::Cannot { why });
            None
        }
        Ok(examined) => serve(report, device, &socket, &wanted, &examined),
    }
}

/// Closes a control socket's descriptor in programs that this one executes.
pub fn keep_to_ourselves(wanted: &ForkServer) {
    if let Some(descriptor) = wanted.control_fd {
        files::close_on_exec(descriptor);
    }
}

/// Forks a trial whenever the harness says so; returns in the trials, with their orders.
fn serve(
    own_report: &mut ReportPipe,
    device: &mut impl Served,
    socket: &Socket,
    wanted: &ForkServer,
    examined: &Examined,
) -> Option<Injection> {
    let own = std::process::id();
    let Examined { wrote, children_wrote, .. } = *examined;
    socket.send(&FromServer::Ready { pid: own, wrote, children_wrote });
    // From now on the end of the sockets tells that the harness is gone, and what trials started dies with
    // them, as it would not if the kernel killed this process.
    let _ = set_parent_process_death_signal(None);
    let mut children: Vec<Child> = Vec::with_capacity(CHILDREN);
    let mut polled: Vec<libc::pollfd> = Vec::with_capacity(CHILDREN + 1);
    // Never freed: a trial would use its pages, which it had to copy first.
    let message = Vec::leak(vec![0; bugaroo_protocol::LONGEST_MESSAGE]);
    device.prepare();
    python::prepare();
    let mut pages = Pages::prepare();
    heap::prepare();
    loop {
        polled.clear();
        let entry = |fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
        polled.push(entry(socket.descriptor()));
        polled.extend(children.iter().map(|child| entry(child.pidfd.as_raw_fd())));
        // While a trial runs there is time.
        // SAFETY: this process has but one thread.
        let idle = !children.is_empty() && pages.as_mut().is_some_and(|pages| unsafe { pages.idle() });
        let patience = if idle { 0 } else { -1 };
        // SAFETY: the pointer and the length are those of a live vector.
        if unsafe { libc::poll(polled.as_mut_ptr(), polled.len() as libc::nfds_t, patience) } <= 0 {
            // Nothing came, or a signal handler of the program ran.
            continue;
        }
        // From behind, so that places stay what they are.
        let running = children.len();
        for at in (1..polled.len()).rev().filter(|at| polled[*at].revents != 0) {
            let child = children.swap_remove(at - 1);
            let status = bury(&child);
            socket.send(&FromServer::Ended { id: child.id, status });
        }
        if children.len() < running {
            if device.learn() {
                heap::give_back();
                if let Some(pages) = &mut pages {
                    pages.check();
                }
                // What was learned, and looked for, has taken the room that trials need.
                heap::prepare();
            }
            if let Some(pages) = &mut pages {
                pages.learn();
            }
        }
        if polled[0].revents == 0 {
            continue;
        }
        let Some((length, given)) = socket.receive(message) else {
            children.iter().for_each(kill);
            // SAFETY: ends the process; buffers of the program's that were not flushed are the trials'.
            unsafe { libc::_exit(0) };
        };
        match ToServer::from_bytes(&message[..length]) {
            Some(ToServer::Kill { id }) => children.iter().filter(|child| child.id == id).for_each(kill),
            Some(ToServer::GoOn) => return None,
            Some(ToServer::Trial { id, orders }) => {
                let Ok([stdout, stderr, report]) = <[OwnedFd; 3]>::try_from(given) else {
                    let why = "a trial without its three descriptors".to_owned();
                    socket.send(&FromServer::Failed { id, why });
                    continue;
                };
                // SAFETY: this process has but one thread.
                match unsafe { unheard::fork() } {
                    0 => {
                        if let Some(pages) = &pages {
                            // SAFETY: a fork has one thread.
                            unsafe { pages.copy() };
                        }
                        let outputs = [(wanted.stdout, stdout), (wanted.stderr, stderr)];
                        // The descriptors are closed. The memory is not freed, which the trial would have to copy first.
                        children.clear();
                        std::mem::forget((children, polled, pages));
                        return become_trial(own_report, orders, examined, outputs, report, own);
                    }
                    -1 => {
                        let why = std::io::Error::last_os_error().to_string();
                        socket.send(&FromServer::Failed { id, why });
                    }
                    pid => {
                        // Neither 0 nor an error: a process.
                        let Some(pid) = Pid::from_raw(pid) else { continue };
                        if let Some(pidfd) = pidfd(pid) {
                            // Here and in the trial: whoever comes first.
                            let _ = setpgid(Some(pid), Some(pid));
                            children.push(Child { id, pid, pidfd });
                        } else {
                            // Examined before, so that this is the end of some resource.
                            let _ = kill_process(pid, Signal::KILL);
                            let _ = waitpid(Some(pid), WaitOptions::empty());
                            let why = "no descriptor left to watch it by".to_owned();
                            socket.send(&FromServer::Failed { id, why });
                        }
                    }
                }
            }
            // Both sides are of one version, so that there is no such message.
            None => {}
        }
    }
}

/// Makes this fork of the server the trial that it is to be; gives what its orders want done to kernels.
fn become_trial(
    own_report: &mut ReportPipe,
    orders: &str,
    examined: &Examined,
    outputs: [(bugaroo_protocol::FileId, OwnedFd); 2],
    report: OwnedFd,
    server: u32,
) -> Option<Injection> {
    let _ = setpgid(None, None);
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
    if getppid().is_none_or(|parent| parent.as_raw_nonzero().get().cast_unsigned() != server) {
        // SAFETY: ends the process.
        unsafe { libc::_exit(0) };
    }
    if let Err(error) = examined.files.make_own(&outputs) {
        // The system's fault, or ours, and not the program's.
        let what = format!("in the fork server: a trial could not be set up: {error}");
        ReportPipe::new(Some(report.as_raw_fd())).send(&Message::Panicked { what });
        // SAFETY: ends the process.
        unsafe { libc::_exit(1) };
    }
    drop(outputs);
    let put = {
        match own_report.descriptor() {
            Some(place) => files::put(report, place).map(|()| Some(place)),
            // The program closed its report's pipe: nobody is told anything.
            None => Ok(None),
        }
    };
    let read = Orders::from_json(orders);
    let (Ok(place), Ok(orders)) = (&put, read) else {
        eprintln!("bugaroo: a trial could not be set up in the fork server: {put:?}");
        // As good as a crash, which it is.
        // SAFETY: ends the process.
        unsafe { libc::abort() };
    };
    let orders = Orders { report_fd: place.unwrap_or(orders.report_fd), ..orders };
    // SAFETY: the process has but this thread. What the trial executes finds the orders as if it had been
    // started with them.
    unsafe { std::env::set_var(ORDERS_VARIABLE, orders.to_json()) };
    // It is inside of a call of the API, and has a single thread.
    own_process::take();
    *own_report = ReportPipe::new(*place);
    match Injection::new(Some(orders)) {
        Ok(injection) => Some(injection),
        // The harness has checked the expression.
        Err(error) => {
            eprintln!("bugaroo: {error}");
            None
        }
    }
}

/// Kills a trial's whole group. Its leader was not waited for yet, so that the group is still its own.
fn kill(child: &Child) {
    let _ = kill_process_group(child.pid, Signal::KILL);
    // Should it not lead a group yet.
    let _ = kill_process(child.pid, Signal::KILL);
}

/// Kills what a trial left behind, and gives its status.
fn bury(child: &Child) -> i32 {
    kill(child);
    let waited = retry_on_intr(|| waitpid(Some(child.pid), WaitOptions::empty()));
    waited.ok().flatten().map_or(0, |(_, status)| status.as_raw())
}
