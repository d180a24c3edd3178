//! Captures in progress: a capturing stream's work becomes nodes of a graph instead of being done.
//!
//! A capture begins in one stream; others join it by waiting for an event that was recorded in it. What a capturing stream does not
//! allow invalidates the capture.

use std::collections::BTreeSet;

use bugaroo_cuda_abi::{CUevent, CUgraphNode};

use crate::error::{CallResult, Status};
use crate::lane::Lane;
use crate::objects::capture::{Mark, StreamCapture};
use crate::objects::stream::Stream;
use crate::objects::work::{NodeBody, Work};
use crate::state::Gpu;

impl Gpu {
    /// The capture that a stream takes part in.
    pub fn capture_of(&self, stream: &Stream) -> Option<u64> {
        let takes_part = |(_, capture): &(&u64, &StreamCapture)| capture.streams.contains_key(&stream.lane);
        self.ordered.graphs.captures.iter().find(takes_part).map(|(number, _)| *number)
    }

    /// Whether a stream's work is captured.
    pub fn is_capturing(&self, stream: &Stream) -> bool {
        !self.ordered.graphs.captures.is_empty() && self.capture_of(stream).is_some()
    }

    /// Marks a capture as one in which something forbidden was done.
    pub fn invalidate(&mut self, number: u64) {
        if let Some(capture) = self.ordered.graphs.captures.get_mut(&number) {
            capture.invalid = true;
        }
    }

    /// Captures work of a capturing stream; answers whether it is one.
    ///
    /// # Errors
    /// As the capture has it.
    pub fn capture(&mut self, stream: &Stream, work: &Work) -> CallResult<bool> {
        if self.ordered.graphs.captures.is_empty() {
            return Ok(false);
        }
        if !self.is_capturing(stream) || matches!(work, Work::CallBack(..)) {
            return refuse(self, stream).map(|()| false);
        }
        self.capture_body(stream, NodeBody::Work(work.clone())).map(|()| true)
    }

    /// Adds a node at the end of a capturing stream.
    ///
    /// # Errors
    /// `StreamCaptureInvalidated`
    pub fn capture_body(&mut self, stream: &Stream, body: NodeBody) -> CallResult {
        let number = self.capture_of(stream).ok_or(Status::IllegalState)?;
        let Some(capture) = self.ordered.graphs.captures.get(&number) else {
            return Err(Status::IllegalState);
        };
        if capture.invalid {
            return Err(Status::StreamCaptureInvalidated);
        }
        let (graph, after) = (capture.graph, capture.streams.get(&stream.lane).cloned().unwrap_or_default());
        let node = self.ordered.graphs.add(graph, &after, body)?;
        if let Some(capture) = self.ordered.graphs.captures.get_mut(&number) {
            capture.streams.insert(stream.lane, vec![node]);
        }
        Ok(())
    }

    /// Records an event in a capture; answers whether the stream is captured.
    ///
    /// # Errors
    /// As the capture has it.
    pub fn capture_record(&mut self, stream: &Stream, event: CUevent, external: bool) -> CallResult<bool> {
        let Some(number) = self.capture_of(stream) else {
            refuse(self, stream)?;
            self.ordered.events.get_mut(event)?.captured = None;
            return Ok(false);
        };
        if external {
            return self.capture_body(stream, NodeBody::Work(Work::Record(event))).map(|()| true);
        }
        let Some(capture) = self.ordered.graphs.captures.get(&number) else { return Ok(false) };
        if capture.invalid {
            return Err(Status::StreamCaptureInvalidated);
        }
        let after = capture.streams.get(&stream.lane).cloned().unwrap_or_default();
        self.ordered.events.get_mut(event)?.captured = Some(Mark { capture: number, after });
        Ok(true)
    }

    /// Lets a stream wait for an event where one of them is part of a capture; answers whether one is.
    ///
    /// # Errors
    /// As the capture has it.
    pub fn capture_wait(&mut self, stream: &Stream, event: CUevent, external: bool) -> CallResult<bool> {
        let (mark, recorded) = {
            let event = self.ordered.events.get(event)?;
            (event.captured.clone(), event.ticket().is_some())
        };
        let own = self.capture_of(stream);
        let Some(mark) = mark else {
            let Some(own) = own else { return refuse(self, stream).map(|()| false) };
            if external {
                return self.capture_body(stream, NodeBody::Wait(event)).map(|()| true);
            }
            if !recorded {
                return Ok(true);
            }
            self.invalidate(own);
            return Err(Status::StreamCaptureIsolation);
        };
        if !self.ordered.graphs.captures.contains_key(&mark.capture) {
            return Err(Status::CapturedEvent);
        }
        if own.is_some_and(|own| own != mark.capture) {
            own.into_iter().chain([mark.capture]).for_each(|number| self.invalidate(number));
            return Err(Status::StreamCaptureMerge);
        }
        if matches!(stream.lane, Lane::Legacy(_)) {
            self.invalidate(mark.capture);
            return Err(Status::StreamCaptureImplicit);
        }
        if let Some(capture) = self.ordered.graphs.captures.get_mut(&mark.capture) {
            if capture.invalid {
                return Err(Status::StreamCaptureInvalidated);
            }
            let after = capture.streams.entry(stream.lane).or_default();
            after.extend(mark.after.iter().filter(|node| !after.contains(node)).copied().collect::<Vec<_>>());
        }
        Ok(true)
    }

    /// Refuses an event that stands for something in a graph, not for work.
    ///
    /// # Errors
    /// `CapturedEvent`
    pub fn check_uncaptured(&self, event: CUevent) -> CallResult {
        if self.ordered.events.get(event)?.captured.is_some() { Err(Status::CapturedEvent) } else { Ok(()) }
    }

    /// A stream is gone: a capture that began in it cannot be ended as it should. What another one brought to a capture
    /// stays in it, and has to be joined, or else to have been.
    pub fn forget_captured(&mut self, lane: Lane) {
        for capture in self.ordered.graphs.captures.values_mut() {
            capture.invalid |= capture.origin == lane;
        }
    }

    /// All nodes from which these can be reached, and themselves.
    pub fn reached(&self, from: &[CUgraphNode]) -> BTreeSet<CUgraphNode> {
        let mut found = BTreeSet::new();
        let mut left = from.to_vec();
        while let Some(node) = left.pop() {
            if found.insert(node)
                && let Ok(node) = self.ordered.graphs.nodes.get(node)
            {
                left.extend(&node.before);
            }
        }
        found
    }
}

/// Refuses what cannot be captured, in a capturing stream; and the legacy default stream, while a stream of its
/// context is captured that it would have to wait for.
///
/// # Errors
/// `StreamCaptureUnsupported`, `StreamCaptureImplicit`; the capture is invalid then.
pub fn refuse(gpu: &mut Gpu, stream: &Stream) -> CallResult {
    if gpu.ordered.graphs.captures.is_empty() {
        return Ok(());
    }
    if let Some(number) = gpu.capture_of(stream) {
        gpu.invalidate(number);
        return Err(Status::StreamCaptureUnsupported);
    }
    if matches!(stream.lane, Lane::Legacy(_)) {
        let blocking = |lane: &Lane| match lane {
            Lane::Made(handle) => {
                let handle = std::ptr::without_provenance_mut(*handle);
                gpu.ordered.streams.get(handle).is_ok_and(|stream| stream.blocking())
            }
            _ => true,
        };
        let concerned = |(_, capture): &(&u64, &StreamCapture)| {
            capture.context == stream.context && capture.streams.keys().any(blocking)
        };
        let concerned = gpu.ordered.graphs.captures.iter().find(concerned).map(|(number, _)| *number);
        if let Some(number) = concerned {
            gpu.invalidate(number);
            return Err(Status::StreamCaptureImplicit);
        }
    }
    Ok(())
}
