//! Functions that device code may call without defining them, because the device has them.

/// One of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Provided {
    Printf,
    Assert,
    Malloc,
    AlignedMalloc,
    Free,
    SetConditional,
    ParameterBuffer,
    LaunchDevice,
    StreamCreate,
    StreamDestroy,
    StreamWaitEvent,
    EventCreate,
    EventDestroy,
    EventRecord,
    EventRecordWithFlags,
    LastError,
    PeekLastError,
    ErrorText,
    Device,
    DeviceCount,
    RuntimeMalloc,
    RuntimeFree,
    MemcpyAsync,
    MemsetAsync,
}

impl Provided {
    /// All of them, by number.
    pub const ALL: [Provided; 24] = [
        Provided::Printf,
        Provided::Assert,
        Provided::Malloc,
        Provided::AlignedMalloc,
        Provided::Free,
        Provided::SetConditional,
        Provided::ParameterBuffer,
        Provided::LaunchDevice,
        Provided::StreamCreate,
        Provided::StreamDestroy,
        Provided::StreamWaitEvent,
        Provided::EventCreate,
        Provided::EventDestroy,
        Provided::EventRecord,
        Provided::EventRecordWithFlags,
        Provided::LastError,
        Provided::PeekLastError,
        Provided::ErrorText,
        Provided::Device,
        Provided::DeviceCount,
        Provided::RuntimeMalloc,
        Provided::RuntimeFree,
        Provided::MemcpyAsync,
        Provided::MemsetAsync,
    ];

    /// What has this name in PTX.
    pub fn named(name: &str) -> Option<Provided> {
        if let Some(name) = name.strip_prefix("__cudaCDP2") {
            // Which stream is the default one makes no difference in device code.
            return Provided::of_the_device_runtime(name.strip_suffix("_ptsz").unwrap_or(name));
        }
        Some(match name {
            "vprintf" => Provided::Printf,
            "__assertfail" => Provided::Assert,
            "malloc" => Provided::Malloc,
            "__nv_aligned_device_malloc" => Provided::AlignedMalloc,
            "free" => Provided::Free,
            "cudaGraphSetConditional" => Provided::SetConditional,
            _ => return None,
        })
    }

    /// `cuda_device_runtime_api.h`
    fn of_the_device_runtime(name: &str) -> Option<Provided> {
        Some(match name {
            "GetParameterBufferV2" => Provided::ParameterBuffer,
            "LaunchDeviceV2" => Provided::LaunchDevice,
            "StreamCreateWithFlags" => Provided::StreamCreate,
            "StreamDestroy" => Provided::StreamDestroy,
            "StreamWaitEvent" => Provided::StreamWaitEvent,
            "EventCreateWithFlags" => Provided::EventCreate,
            "EventDestroy" => Provided::EventDestroy,
            "EventRecord" => Provided::EventRecord,
            "EventRecordWithFlags" => Provided::EventRecordWithFlags,
            "GetLastError" => Provided::LastError,
            "PeekAtLastError" => Provided::PeekLastError,
            "GetErrorString" | "GetErrorName" => Provided::ErrorText,
            "GetDevice" => Provided::Device,
            "GetDeviceCount" => Provided::DeviceCount,
            "Malloc" => Provided::RuntimeMalloc,
            "Free" => Provided::RuntimeFree,
            "MemcpyAsync" => Provided::MemcpyAsync,
            "MemsetAsync" => Provided::MemsetAsync,
            _ => return None,
        })
    }

    /// Bytes of its results and parameters.
    pub fn signature(self) -> (&'static [u32], &'static [u32]) {
        match self {
            Provided::Printf => (&[4], &[8, 8]),
            Provided::Assert => (&[], &[8, 8, 4, 8, 8]),
            Provided::Malloc => (&[8], &[8]),
            Provided::AlignedMalloc => (&[8], &[8, 8]),
            Provided::Free => (&[], &[8]),
            Provided::SetConditional => (&[], &[8, 4]),
            Provided::ParameterBuffer => (&[8], &[8, 12, 12, 4]),
            Provided::LaunchDevice | Provided::EventRecord | Provided::RuntimeMalloc => (&[4], &[8, 8]),
            Provided::StreamCreate | Provided::EventCreate => (&[4], &[8, 4]),
            Provided::StreamDestroy
            | Provided::EventDestroy
            | Provided::Device
            | Provided::DeviceCount
            | Provided::RuntimeFree => (&[4], &[8]),
            Provided::StreamWaitEvent | Provided::EventRecordWithFlags => (&[4], &[8, 8, 4]),
            Provided::LastError | Provided::PeekLastError => (&[4], &[]),
            Provided::ErrorText => (&[8], &[4]),
            Provided::MemcpyAsync => (&[4], &[8, 8, 8, 4, 8]),
            Provided::MemsetAsync => (&[4], &[8, 4, 8, 8]),
        }
    }
}
