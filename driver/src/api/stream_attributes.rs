//! Attributes of streams (CUDA Driver API, "Stream Management"): kept and told; of those, none changes anything here
//! but in name.

use std::ffi::c_uint;

use bugaroo_cuda_abi::{CUlaunchAttributeValue, CUstream};

use crate::api::submit::{on_stream, twin};
use bugaroo_device::error::{CallResult, Status};
use bugaroo_device::places::{not_null, write};
use bugaroo_device::state::Gpu;

/// Those that streams have: access policy window, synchronisation policy, priority, memory synchronisation
/// domains, the last hint.
const KNOWN: [c_uint; 6] = [1, 3, 8, 9, 10, 16];
/// `CU_LAUNCH_ATTRIBUTE_PRIORITY`
const PRIORITY: c_uint = 8;
/// `CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP`
const DOMAIN_MAP: c_uint = 9;
/// `CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY`
const POLICY: c_uint = 3;

fn check(attribute: c_uint) -> CallResult {
    if KNOWN.contains(&attribute) { Ok(()) } else { Err(Status::InvalidValue) }
}

twin! { cuStreamGetAttribute_ptsz =
    /// An attribute of a stream.
    ///
    /// # Safety
    /// `place` is null or points to a place for a value.
    pub unsafe extern "C" fn cuStreamGetAttribute(
        stream: CUstream,
        attribute: c_uint,
        place: *mut CUlaunchAttributeValue,
    ) -> Status {
        on_stream("cuStreamGetAttribute", stream, |gpu, stream| {
            check(attribute)?;
            let mut bytes = [0; 64];
            match attribute {
                PRIORITY => bytes[..4].copy_from_slice(&stream.priority.to_le_bytes()),
                // CU_SYNC_POLICY_AUTO; the default domain is the first, the remote one the second.
                POLICY => bytes[0] = 1,
                DOMAIN_MAP => bytes[1] = 1,
                _ => {}
            }
            if let Some(set) = gpu.ordered.stream_attributes.get(&(stream.lane, attribute)) {
                bytes = *set;
            }
            // SAFETY: the caller's promise.
            unsafe { write(place, CUlaunchAttributeValue { bytes }) }
        })
    }
}

twin! { cuStreamSetAttribute_ptsz =
    /// Sets an attribute of a stream.
    ///
    /// # Safety
    /// `value` is null or points to a value.
    pub unsafe extern "C" fn cuStreamSetAttribute(
        stream: CUstream,
        attribute: c_uint,
        value: *const CUlaunchAttributeValue,
    ) -> Status {
        on_stream("cuStreamSetAttribute", stream, |gpu, stream| {
            check(attribute)?;
            not_null(value)?;
            // SAFETY: not null, and the caller vouches for the rest; any bits are numbers.
            let bytes = unsafe { value.read_unaligned().bytes };
            gpu.ordered.stream_attributes.insert((stream.lane, attribute), bytes);
            Ok(())
        })
    }
}

twin! { cuStreamCopyAttributes_ptsz =
    /// Gives a stream the attributes of another.
    pub extern "C" fn cuStreamCopyAttributes(to: CUstream, from: CUstream) -> Status {
        on_stream("cuStreamCopyAttributes", to, |gpu: &mut Gpu, to| {
            let from = gpu.stream(from, to.context)?;
            for attribute in KNOWN {
                if let Some(bytes) = gpu.ordered.stream_attributes.get(&(from.lane, attribute)).copied() {
                    gpu.ordered.stream_attributes.insert((to.lane, attribute), bytes);
                }
            }
            Ok(())
        })
    }
}
