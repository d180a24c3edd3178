//! Options of the just-in-time compiler (`CUjit_option`): the logs are honoured, the rest changes
//! nothing.

use std::ffi::{c_char, c_uint, c_void};

use crate::error::{CallResult, Status};
use crate::places::not_null;

const WALL_TIME: c_uint = 2;
const INFO_LOG_BUFFER: c_uint = 3;
const INFO_LOG_BUFFER_SIZE: c_uint = 4;
const ERROR_LOG_BUFFER: c_uint = 5;
const ERROR_LOG_BUFFER_SIZE: c_uint = 6;
/// `CU_JIT_NUM_OPTIONS`
const OPTIONS: c_uint = 35;

/// A log that the program wants: a buffer of its own, and where to tell how much of it is used.
#[derive(Clone, Copy, Debug)]
struct Log {
    buffer: *mut c_char,
    size: usize,
    used: *mut *mut c_void,
}

impl Log {
    const NONE: Log = Log { buffer: std::ptr::null_mut(), size: 0, used: std::ptr::null_mut() };

    /// Puts a text in, cut where the buffer is too short, and tells its length with the NUL.
    fn write(&self, text: &str) {
        let mut length = 0;
        if !self.buffer.is_null() && self.size > 0 {
            let taken = text.len().min(self.size - 1);
            // SAFETY: the buffer holds `size` bytes, as `JitOptions::read`'s caller vouches for.
            unsafe {
                self.buffer.cast::<u8>().copy_from_nonoverlapping(text.as_ptr(), taken);
                self.buffer.add(taken).write(0);
            }
            length = taken + 1;
        }
        if !self.used.is_null() {
            // SAFETY: it points into the array of option values; the value is a number in a
            // pointer's place.
            unsafe { self.used.write(length as *mut c_void) };
        }
    }
}

/// The options of one load.
#[derive(Debug)]
pub struct JitOptions {
    info: Log,
    error: Log,
}

impl JitOptions {
    /// No options.
    pub fn none() -> Self {
        JitOptions { info: Log::NONE, error: Log::NONE }
    }

    /// Whether the program wants to be told what becomes of the load.
    pub fn wants_a_log(&self) -> bool {
        [&self.info, &self.error].into_iter().any(|log| !log.buffer.is_null() || !log.used.is_null())
    }

    /// Reads options.
    ///
    /// # Errors
    /// `InvalidValue` for unknown ones, or null arrays.
    ///
    /// # Safety
    /// `options` and `values` are null or hold `count` items each, and the values are what `cuda.h`
    /// asks for; buffers stay valid as long as the result.
    pub unsafe fn read(count: c_uint, options: *const c_uint, values: *mut *mut c_void) -> CallResult<Self> {
        let mut read = JitOptions::none();
        if count == 0 {
            return Ok(read);
        }
        not_null(options)?;
        not_null(values)?;
        for index in 0..count as usize {
            // SAFETY: the caller's promise.
            let (option, place) = unsafe { (*options.add(index), values.add(index)) };
            // SAFETY: as above.
            let value = unsafe { *place };
            match option {
                // SAFETY: the option's value is also its result: milliseconds as a float.
                WALL_TIME => unsafe { place.cast::<f32>().write(0.0) },
                INFO_LOG_BUFFER => read.info.buffer = value.cast(),
                ERROR_LOG_BUFFER => read.error.buffer = value.cast(),
                INFO_LOG_BUFFER_SIZE => {
                    // The value is a 32-bit number in a pointer's place.
                    read.info = Log { size: value as usize & 0xffff_ffff, used: place, ..read.info };
                }
                ERROR_LOG_BUFFER_SIZE => {
                    read.error = Log { size: value as usize & 0xffff_ffff, used: place, ..read.error };
                }
                OPTIONS.. => return Err(Status::InvalidValue),
                _ => {}
            }
        }
        Ok(read)
    }

    /// Fills the logs: what was wrong, or nothing.
    pub fn tell(&self, error: Option<&str>) {
        self.info.write("");
        self.error.write(error.unwrap_or(""));
    }
}
