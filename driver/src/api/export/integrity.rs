//! `INTEGRITY_CHECK`: the driver answers to the runtime, which works the same answer out for itself, and compares.
//!
//! The runtime asks three times at its start, with its version, to which 0, 1 and 2 is added, and the time. The answers to the first two are
//! constant. The third is an HMAC (RFC 2104) by MD2 (RFC 1319), with a constant key, of what both sides know: versions, process and
//! thread, where the tables are, and the devices. So it says that driver, tables and devices are what the
//! runtime has found them to be by all other ways, and no more.

use std::ffi::{c_int, c_uint, c_ulonglong};

use bugaroo_simulator::DeviceConfig;
use hmac::{Hmac, KeyInit, Mac};
use md2::Md2;

use crate::api::device::uuid;
use crate::api::entry::with_gpu;
use crate::api::export::cudart;
use crate::api::export::table::{Word, words};
use crate::api::init::DRIVER_VERSION;
use bugaroo_device::attributes::attribute;
use bugaroo_device::devices;
use bugaroo_device::error::{CallResult, Status};
use bugaroo_device::places::write;

/// The table.
pub static TABLE: [Word; 3] = words! { 5: (size 3) answer 2 };

/// Answers to the first two questions.
const FIRST: [u64; 2] = [0x3341_181c_03cb_675c, 0x8ed3_83aa_1f4c_d1e8];
/// See [`FIRST`].
const SECOND: [u64; 2] = [0x1841_181c_03cb_675c, 0x8ed3_83aa_1f4c_d1e8];

/// Bytes of the key, and of a code.
const KEY_BYTES: usize = 16;
/// The key of the third.
const KEY: [u8; KEY_BYTES] =
    [0x14, 0x6a, 0xdd, 0xae, 0x53, 0xa9, 0xa7, 0x52, 0xaa, 0x08, 0x41, 0x36, 0x0b, 0xf5, 0x5a, 0x9f];

/// PCI domain, bus and device, of `CUdevice_attribute`.
const PCI: [c_uint; 3] = [50, 33, 34];

/// The code of a message.
fn authenticate(message: &[u8]) -> [u8; KEY_BYTES] {
    // HMAC takes keys of any length.
    let mut code = Hmac::<Md2>::new_from_slice(&KEY).expect("a key of any length will do");
    code.update(message);
    code.finalize().into_bytes().into()
}

/// What both sides know, in the order in which it is hashed.
#[derive(Clone, Copy, Debug)]
struct Known {
    /// As asked.
    version: c_uint,
    /// As asked.
    seconds: c_ulonglong,
    process: u32,
    /// The lower half of `pthread_self`.
    thread: u32,
    /// Where [`cudart::TABLE`] is, where [`TABLE`] is, and the function that is asked.
    addresses: [usize; 3],
}

impl Known {
    /// The message that is authenticated.
    fn message(&self, devices: impl Iterator<Item = CallResult<Vec<u8>>>) -> CallResult<Vec<u8>> {
        let mut message = DRIVER_VERSION.to_ne_bytes().to_vec();
        for number in [self.version, self.process, self.thread] {
            message.extend(number.to_ne_bytes());
        }
        for address in self.addresses {
            message.extend(address.to_ne_bytes());
        }
        message.extend(self.seconds.to_ne_bytes());
        for device in devices {
            message.extend(device?);
        }
        Ok(message)
    }
}

/// A device: its UUID, and where it sits.
fn device(number: c_int, config: &DeviceConfig) -> CallResult<Vec<u8>> {
    let mut bytes = uuid(number).bytes.to_vec();
    for number in PCI {
        bytes.extend(attribute(number, config)?.to_ne_bytes());
    }
    Ok(bytes)
}

/// Slot 1: the answer to a question.
///
/// # Safety
/// `place` is null or points to a place for the answer.
unsafe extern "C" fn answer(version: c_uint, seconds: c_ulonglong, place: *mut [u64; 2]) -> Status {
    with_gpu("INTEGRITY_CHECK", |gpu| {
        let answer = match version % 10 {
            0 => FIRST,
            1 => SECOND,
            _ => {
                let known = Known {
                    version,
                    seconds,
                    process: std::process::id(),
                    // SAFETY: nothing is asked for. Only the lower half goes in.
                    thread: unsafe { libc::pthread_self() } as u32,
                    addresses: [cudart::TABLE.as_ptr().addr(), TABLE.as_ptr().addr(), TABLE[1].number()],
                };
                let devices = (0..devices::count()).map(|number| device(number, &gpu.config));
                let code = u128::from_le_bytes(authenticate(&known.message(devices)?));
                [code as u64, (code >> 64) as u64]
            }
        };
        // SAFETY: the caller's promise.
        unsafe { write(place, answer) }
    })
}
