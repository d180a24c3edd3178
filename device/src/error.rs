//! The driver's status codes: every `CUresult` of CUDA 13.0 with its name and a description, and the
//! two functions that tell them (CUDA Driver API, "Error Handling").
//!
//! Inside the crate a call is a `Result<(), Status>`; [`Status`] is what crosses the C boundary.

use std::ffi::CStr;

macro_rules! codes {
    ($($variant:ident = $code:literal, $name:literal, $description:literal;)*) => {
        /// A `CUresult`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u32)]
        #[must_use]
        #[allow(missing_docs, reason = "each is described by its own text")]
        pub enum Status {
            $($variant = $code,)*
        }

        impl Status {
            /// The status of a numeric code, if CUDA 13.0 has one.
            pub fn from_code(code: u32) -> Option<Self> {
                match code {
                    $($code => Some(Self::$variant),)*
                    _ => None,
                }
            }

            /// Its name in `cuda.h`.
            pub fn name(self) -> &'static CStr {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

            /// What it means, for a person.
            pub fn description(self) -> &'static CStr {
                match self {
                    $(Self::$variant => $description,)*
                }
            }

            /// All of them, in order of their codes.
            pub const ALL: &[Status] = &[$(Self::$variant,)*];
        }
    };
}

codes! {
    Success = 0, c"CUDA_SUCCESS", c"no error";
    InvalidValue = 1, c"CUDA_ERROR_INVALID_VALUE", c"invalid argument";
    OutOfMemory = 2, c"CUDA_ERROR_OUT_OF_MEMORY", c"out of memory";
    NotInitialized = 3, c"CUDA_ERROR_NOT_INITIALIZED", c"initialization error";
    Deinitialized = 4, c"CUDA_ERROR_DEINITIALIZED", c"driver shutting down";
    ProfilerDisabled = 5, c"CUDA_ERROR_PROFILER_DISABLED", c"profiler disabled";
    ProfilerNotInitialized = 6, c"CUDA_ERROR_PROFILER_NOT_INITIALIZED", c"profiler not initialized";
    ProfilerAlreadyStarted = 7, c"CUDA_ERROR_PROFILER_ALREADY_STARTED", c"profiler already started";
    ProfilerAlreadyStopped = 8, c"CUDA_ERROR_PROFILER_ALREADY_STOPPED", c"profiler already stopped";
    StubLibrary = 34, c"CUDA_ERROR_STUB_LIBRARY", c"a stub library was loaded instead of the driver";
    CallRequiresNewerDriver = 36, c"CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER", c"the call needs a newer driver";
    DeviceUnavailable = 46, c"CUDA_ERROR_DEVICE_UNAVAILABLE", c"device busy or unavailable";
    NoDevice = 100, c"CUDA_ERROR_NO_DEVICE", c"no CUDA-capable device is detected";
    InvalidDevice = 101, c"CUDA_ERROR_INVALID_DEVICE", c"invalid device ordinal";
    DeviceNotLicensed = 102, c"CUDA_ERROR_DEVICE_NOT_LICENSED", c"the device has no valid licence";
    InvalidImage = 200, c"CUDA_ERROR_INVALID_IMAGE", c"device kernel image is invalid";
    InvalidContext = 201, c"CUDA_ERROR_INVALID_CONTEXT", c"invalid device context";
    ContextAlreadyCurrent = 202, c"CUDA_ERROR_CONTEXT_ALREADY_CURRENT", c"context already current";
    MapFailed = 205, c"CUDA_ERROR_MAP_FAILED", c"mapping of a resource failed";
    UnmapFailed = 206, c"CUDA_ERROR_UNMAP_FAILED", c"unmapping of a resource failed";
    ArrayIsMapped = 207, c"CUDA_ERROR_ARRAY_IS_MAPPED", c"array is mapped";
    AlreadyMapped = 208, c"CUDA_ERROR_ALREADY_MAPPED", c"resource already mapped";
    NoBinaryForGpu = 209, c"CUDA_ERROR_NO_BINARY_FOR_GPU", c"no kernel image is available for execution on the device";
    AlreadyAcquired = 210, c"CUDA_ERROR_ALREADY_ACQUIRED", c"resource already acquired";
    NotMapped = 211, c"CUDA_ERROR_NOT_MAPPED", c"resource not mapped";
    NotMappedAsArray = 212, c"CUDA_ERROR_NOT_MAPPED_AS_ARRAY", c"resource not mapped as array";
    NotMappedAsPointer = 213, c"CUDA_ERROR_NOT_MAPPED_AS_POINTER", c"resource not mapped as pointer";
    EccUncorrectable = 214, c"CUDA_ERROR_ECC_UNCORRECTABLE", c"uncorrectable ECC error encountered";
    UnsupportedLimit = 215, c"CUDA_ERROR_UNSUPPORTED_LIMIT", c"limit is not supported on this architecture";
    ContextAlreadyInUse = 216, c"CUDA_ERROR_CONTEXT_ALREADY_IN_USE", c"context is in use by another thread";
    PeerAccessUnsupported = 217, c"CUDA_ERROR_PEER_ACCESS_UNSUPPORTED", c"peer access is not supported between these two devices";
    InvalidPtx = 218, c"CUDA_ERROR_INVALID_PTX", c"a PTX JIT compilation failed";
    InvalidGraphicsContext = 219, c"CUDA_ERROR_INVALID_GRAPHICS_CONTEXT", c"invalid graphics context";
    NvlinkUncorrectable = 220, c"CUDA_ERROR_NVLINK_UNCORRECTABLE", c"uncorrectable NVLink error encountered";
    JitCompilerNotFound = 221, c"CUDA_ERROR_JIT_COMPILER_NOT_FOUND", c"PTX JIT compiler library not found";
    UnsupportedPtxVersion = 222, c"CUDA_ERROR_UNSUPPORTED_PTX_VERSION", c"the PTX is of a version that is not supported";
    JitCompilationDisabled = 223, c"CUDA_ERROR_JIT_COMPILATION_DISABLED", c"PTX JIT compilation is disabled";
    UnsupportedExecAffinity = 224, c"CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY", c"execution affinity is not supported";
    UnsupportedDevsideSync = 225, c"CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC", c"device-side synchronization is not supported";
    Contained = 226, c"CUDA_ERROR_CONTAINED", c"a contained error happened on the device";
    InvalidSource = 300, c"CUDA_ERROR_INVALID_SOURCE", c"device kernel source is invalid";
    FileNotFound = 301, c"CUDA_ERROR_FILE_NOT_FOUND", c"file not found";
    SharedObjectSymbolNotFound = 302, c"CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND", c"shared object symbol not found";
    SharedObjectInitFailed = 303, c"CUDA_ERROR_SHARED_OBJECT_INIT_FAILED", c"shared object initialization failed";
    OperatingSystem = 304, c"CUDA_ERROR_OPERATING_SYSTEM", c"an operating system call failed";
    InvalidHandle = 400, c"CUDA_ERROR_INVALID_HANDLE", c"invalid resource handle";
    IllegalState = 401, c"CUDA_ERROR_ILLEGAL_STATE", c"the operation cannot be performed in the present state";
    LossyQuery = 402, c"CUDA_ERROR_LOSSY_QUERY", c"the query would lose information";
    NotFound = 500, c"CUDA_ERROR_NOT_FOUND", c"named symbol not found";
    NotReady = 600, c"CUDA_ERROR_NOT_READY", c"device not ready";
    IllegalAddress = 700, c"CUDA_ERROR_ILLEGAL_ADDRESS", c"an illegal memory access was encountered";
    LaunchOutOfResources = 701, c"CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", c"too many resources requested for launch";
    LaunchTimeout = 702, c"CUDA_ERROR_LAUNCH_TIMEOUT", c"the launch timed out and was terminated";
    LaunchIncompatibleTexturing = 703, c"CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING", c"launch uses incompatible texturing mode";
    PeerAccessAlreadyEnabled = 704, c"CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED", c"peer access is already enabled";
    PeerAccessNotEnabled = 705, c"CUDA_ERROR_PEER_ACCESS_NOT_ENABLED", c"peer access has not been enabled";
    PrimaryContextActive = 708, c"CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE", c"the primary context is active";
    ContextIsDestroyed = 709, c"CUDA_ERROR_CONTEXT_IS_DESTROYED", c"context is destroyed";
    Assert = 710, c"CUDA_ERROR_ASSERT", c"device-side assert triggered";
    TooManyPeers = 711, c"CUDA_ERROR_TOO_MANY_PEERS", c"peer mapping resources exhausted";
    HostMemoryAlreadyRegistered = 712, c"CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED", c"part or all of the memory is already registered";
    HostMemoryNotRegistered = 713, c"CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED", c"the pointer is not to registered memory";
    HardwareStackError = 714, c"CUDA_ERROR_HARDWARE_STACK_ERROR", c"hardware stack error";
    IllegalInstruction = 715, c"CUDA_ERROR_ILLEGAL_INSTRUCTION", c"an illegal instruction was encountered";
    MisalignedAddress = 716, c"CUDA_ERROR_MISALIGNED_ADDRESS", c"misaligned address";
    InvalidAddressSpace = 717, c"CUDA_ERROR_INVALID_ADDRESS_SPACE", c"operation not supported on this address space";
    InvalidPc = 718, c"CUDA_ERROR_INVALID_PC", c"invalid program counter";
    LaunchFailed = 719, c"CUDA_ERROR_LAUNCH_FAILED", c"unspecified launch failure";
    CooperativeLaunchTooLarge = 720, c"CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE", c"too many blocks in cooperative launch";
    TensorMemoryLeak = 721, c"CUDA_ERROR_TENSOR_MEMORY_LEAK", c"tensor memory was not deallocated";
    NotPermitted = 800, c"CUDA_ERROR_NOT_PERMITTED", c"operation not permitted";
    NotSupported = 801, c"CUDA_ERROR_NOT_SUPPORTED", c"operation not supported";
    SystemNotReady = 802, c"CUDA_ERROR_SYSTEM_NOT_READY", c"system not yet initialized";
    SystemDriverMismatch = 803, c"CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", c"system has unsupported display driver or CUDA driver combination";
    CompatNotSupportedOnDevice = 804, c"CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE", c"forward compatibility is not supported on this device";
    MpsConnectionFailed = 805, c"CUDA_ERROR_MPS_CONNECTION_FAILED", c"MPS client failed to connect";
    MpsRpcFailure = 806, c"CUDA_ERROR_MPS_RPC_FAILURE", c"MPS server and client failed to communicate";
    MpsServerNotReady = 807, c"CUDA_ERROR_MPS_SERVER_NOT_READY", c"MPS server is not ready for clients";
    MpsMaxClientsReached = 808, c"CUDA_ERROR_MPS_MAX_CLIENTS_REACHED", c"MPS clients exhausted";
    MpsMaxConnectionsReached = 809, c"CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED", c"MPS connections exhausted";
    MpsClientTerminated = 810, c"CUDA_ERROR_MPS_CLIENT_TERMINATED", c"MPS client terminated by the server";
    CdpNotSupported = 811, c"CUDA_ERROR_CDP_NOT_SUPPORTED", c"CUDA dynamic parallelism is not supported";
    CdpVersionMismatch = 812, c"CUDA_ERROR_CDP_VERSION_MISMATCH", c"CUDA dynamic parallelism version mismatch";
    StreamCaptureUnsupported = 900, c"CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", c"operation not permitted when stream is capturing";
    StreamCaptureInvalidated = 901, c"CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", c"stream capture was invalidated by an earlier error";
    StreamCaptureMerge = 902, c"CUDA_ERROR_STREAM_CAPTURE_MERGE", c"operation would merge two separate captures";
    StreamCaptureUnmatched = 903, c"CUDA_ERROR_STREAM_CAPTURE_UNMATCHED", c"capture was not started in this stream";
    StreamCaptureUnjoined = 904, c"CUDA_ERROR_STREAM_CAPTURE_UNJOINED", c"capturing stream has unjoined work";
    StreamCaptureIsolation = 905, c"CUDA_ERROR_STREAM_CAPTURE_ISOLATION", c"dependency on uncaptured work in another stream";
    StreamCaptureImplicit = 906, c"CUDA_ERROR_STREAM_CAPTURE_IMPLICIT", c"operation would make the legacy stream depend on a capturing stream";
    CapturedEvent = 907, c"CUDA_ERROR_CAPTURED_EVENT", c"operation not permitted on an event last recorded in a capturing stream";
    StreamCaptureWrongThread = 908, c"CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD", c"stream capture ended by another thread than began it";
    Timeout = 909, c"CUDA_ERROR_TIMEOUT", c"wait operation timed out";
    GraphExecUpdateFailure = 910, c"CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE", c"the graph update was not performed";
    ExternalDevice = 911, c"CUDA_ERROR_EXTERNAL_DEVICE", c"an error happened in a device outside of the GPU";
    InvalidClusterSize = 912, c"CUDA_ERROR_INVALID_CLUSTER_SIZE", c"invalid cluster size";
    FunctionNotLoaded = 913, c"CUDA_ERROR_FUNCTION_NOT_LOADED", c"function not loaded";
    InvalidResourceType = 914, c"CUDA_ERROR_INVALID_RESOURCE_TYPE", c"invalid resource type";
    InvalidResourceConfiguration = 915, c"CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION", c"invalid resource configuration";
    KeyRotation = 916, c"CUDA_ERROR_KEY_ROTATION", c"an encryption key is being rotated";
    Unknown = 999, c"CUDA_ERROR_UNKNOWN", c"unknown error";
}

/// What a call inside the crate gives: nothing, or the error that the program sees.
pub type CallResult<T = ()> = Result<T, Status>;

impl From<CallResult> for Status {
    fn from(outcome: CallResult) -> Self {
        match outcome {
            Ok(()) => Status::Success,
            Err(status) => status,
        }
    }
}
