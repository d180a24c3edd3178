//! Layouts are those of CUDA 13.0's headers, as cudarc's bindings have them: sizes, alignments, and where each field stands.

use std::mem::offset_of;

use bugaroo_cuda_abi as abi;
use cudarc::driver::sys;

/// Compares a type with its namesake, field by field: `Ours = Theirs { ours = theirs, … }`.
macro_rules! alike {
    ($($ours:ident = $theirs:ident { $($field:ident = $($other:ident).+),* $(,)? })*) => {$(
        assert_eq!(size_of::<abi::$ours>(), size_of::<sys::$theirs>(), "size of {}", stringify!($ours));
        assert_eq!(align_of::<abi::$ours>(), align_of::<sys::$theirs>(), "alignment of {}", stringify!($ours));
        $(
            assert_eq!(
                offset_of!(abi::$ours, $field), offset_of!(sys::$theirs, $($other).+),
                "{}.{}", stringify!($ours), stringify!($field)
            );
        )*
    )*};
}

#[test]
fn devices_and_contexts() {
    alike! {
        CUuuid = CUuuid_st { bytes = bytes }
        CUdevprop = CUdevprop_st {
            max_threads_per_block = maxThreadsPerBlock, max_threads_dim = maxThreadsDim, max_grid_size = maxGridSize,
            shared_mem_per_block = sharedMemPerBlock, total_constant_memory = totalConstantMemory, simd_width = SIMDWidth,
            mem_pitch = memPitch, regs_per_block = regsPerBlock, clock_rate = clockRate, texture_align = textureAlign,
        }
        CUctxCreateParams = CUctxCreateParams_st {
            affinity = execAffinityParams, affinity_count = numExecAffinityParams, graphics = cigParams,
        }
        CUdevResource = CUdevResource_st { kind = type_, padding = _internal_padding, sms = __bindgen_anon_1 }
    }
}

#[test]
fn memory() {
    alike! {
        CUmemLocation = CUmemLocation_st { kind = type_, id = id }
        CUmemAccessDesc = CUmemAccessDesc_st { location = location, flags = flags }
        CUmemPoolProps = CUmemPoolProps_st {
            allocation_type = allocType, handle_types = handleTypes, location = location,
            security = win32SecurityAttributes, max_size = maxSize, usage = usage, reserved = reserved,
        }
        CUmemAllocationProp = CUmemAllocationProp_st {
            allocation_type = type_, handle_types = requestedHandleTypes, location = location,
            meta_data = win32HandleMetaData, compression = allocFlags.compressionType,
            rdma = allocFlags.gpuDirectRDMACapable, usage = allocFlags.usage, reserved = allocFlags.reserved,
        }
    }
}

#[test]
fn copies() {
    alike! {
        CUDA_MEMCPY2D = CUDA_MEMCPY2D_st {
            src_x_in_bytes = srcXInBytes, src_y = srcY, src_memory_type = srcMemoryType, src_host = srcHost,
            src_device = srcDevice, src_array = srcArray, src_pitch = srcPitch, dst_x_in_bytes = dstXInBytes, dst_y = dstY,
            dst_memory_type = dstMemoryType, dst_host = dstHost, dst_device = dstDevice, dst_array = dstArray,
            dst_pitch = dstPitch, width_in_bytes = WidthInBytes, height = Height,
        }
        CUDA_MEMCPY3D = CUDA_MEMCPY3D_st {
            src = srcXInBytes, dst = dstXInBytes, width_in_bytes = WidthInBytes, height = Height, depth = Depth,
        }
        CUDA_MEMCPY3D = CUDA_MEMCPY3D_PEER_st {
            src = srcXInBytes, dst = dstXInBytes, width_in_bytes = WidthInBytes, height = Height, depth = Depth,
        }
        CUmemcpyAttributes = CUmemcpyAttributes_st {
            source_access_order = srcAccessOrder, source = srcLocHint, destination = dstLocHint, flags = flags,
        }
        CUmemcpy3DOperand = CUmemcpy3DOperand_st { kind = type_, place = op }
        CUmemcpy3DPlace = CUmemcpy3DOperand_st__bindgen_ty_1 { pointer = ptr, array = array }
        CUmemcpy3DPointer = CUmemcpy3DOperand_st__bindgen_ty_1__bindgen_ty_1 {
            address = ptr, row_length = rowLength, layer_height = layerHeight, location = locHint,
        }
        CUmemcpy3DArray = CUmemcpy3DOperand_st__bindgen_ty_1__bindgen_ty_2 { array = array, offset = offset }
        CUDA_MEMCPY3D_BATCH_OP = CUDA_MEMCPY3D_BATCH_OP_st {
            src = src, dst = dst, extent = extent, source_access_order = srcAccessOrder, flags = flags,
        }
    }
}

#[test]
fn both_sides_of_a_copy_of_boxes() {
    let side = |at: usize| offset_of!(abi::CUDA_MEMCPY3D, src) + at;
    let other = |at: usize| offset_of!(abi::CUDA_MEMCPY3D, dst) + at;
    macro_rules! sides {
        ($($field:ident = $src:ident $dst:ident),* $(,)?) => {$(
            let at = offset_of!(abi::Operand3D, $field);
            assert_eq!(side(at), offset_of!(sys::CUDA_MEMCPY3D_PEER_st, $src), stringify!($src));
            assert_eq!(other(at), offset_of!(sys::CUDA_MEMCPY3D_PEER_st, $dst), stringify!($dst));
        )*};
    }
    sides! {
        x_in_bytes = srcXInBytes dstXInBytes, y = srcY dstY, z = srcZ dstZ, lod = srcLOD dstLOD,
        memory_type = srcMemoryType dstMemoryType, host = srcHost dstHost, device = srcDevice dstDevice,
        array = srcArray dstArray, context = srcContext dstContext, pitch = srcPitch dstPitch, height = srcHeight dstHeight,
    }
    assert_eq!(side(offset_of!(abi::Operand3D, context)), offset_of!(sys::CUDA_MEMCPY3D_st, reserved0));
    assert_eq!(other(offset_of!(abi::Operand3D, context)), offset_of!(sys::CUDA_MEMCPY3D_st, reserved1));
}

#[test]
fn arrays_and_textures() {
    alike! {
        CUDA_ARRAY_DESCRIPTOR = CUDA_ARRAY_DESCRIPTOR_st {
            width = Width, height = Height, format = Format, channels = NumChannels,
        }
        CUDA_ARRAY3D_DESCRIPTOR = CUDA_ARRAY3D_DESCRIPTOR_st {
            width = Width, height = Height, depth = Depth, format = Format, channels = NumChannels, flags = Flags,
        }
        CUDA_RESOURCE_DESC = CUDA_RESOURCE_DESC_st { resource_type = resType, resource = res, flags = flags }
        AnyResource = CUDA_RESOURCE_DESC_st__bindgen_ty_1 {
            array = array, linear = linear, pitched = pitch2D, reserved = reserved,
        }
        LinearResource = CUDA_RESOURCE_DESC_st__bindgen_ty_1__bindgen_ty_3 {
            address = devPtr, format = format, channels = numChannels, bytes = sizeInBytes,
        }
        PitchedResource = CUDA_RESOURCE_DESC_st__bindgen_ty_1__bindgen_ty_4 {
            address = devPtr, format = format, channels = numChannels, width = width, height = height, pitch = pitchInBytes,
        }
        CUDA_TEXTURE_DESC = CUDA_TEXTURE_DESC_st {
            address_mode = addressMode, filter_mode = filterMode, flags = flags, max_anisotropy = maxAnisotropy,
            mipmap_filter_mode = mipmapFilterMode, mipmap_level_bias = mipmapLevelBias,
            min_mipmap_level_clamp = minMipmapLevelClamp, max_mipmap_level_clamp = maxMipmapLevelClamp,
            border_color = borderColor, reserved = reserved,
        }
        CUDA_RESOURCE_VIEW_DESC = CUDA_RESOURCE_VIEW_DESC_st {
            format = format, width = width, height = height, depth = depth, first_mipmap_level = firstMipmapLevel,
            last_mipmap_level = lastMipmapLevel, first_layer = firstLayer, last_layer = lastLayer, reserved = reserved,
        }
    }
}

#[test]
fn launches_and_streams() {
    alike! {
        CUlaunchConfig = CUlaunchConfig_st {
            grid = gridDimX, block = blockDimX, shared_mem_bytes = sharedMemBytes, stream = hStream, attributes = attrs,
            attribute_count = numAttrs,
        }
        CUlaunchAttribute = CUlaunchAttribute_st { id = id, pad = pad, value = value }
        CUlaunchAttributeValue = CUlaunchAttributeValue_union {
            bytes = pad, cooperative = cooperative, cluster_dimension = clusterDim,
        }
    }
    alike! { CUstreamBatchMemOpParams = CUstreamBatchMemOpParams_union { operation = operation } }
    // Forms of that union, which end before it does.
    macro_rules! form {
        ($($theirs:ident)*) => {$(
            assert_eq!(offset_of!(abi::CUstreamBatchMemOpParams, operation), offset_of!(sys::$theirs, operation));
            assert_eq!(offset_of!(abi::CUstreamBatchMemOpParams, address), offset_of!(sys::$theirs, address));
            assert_eq!(offset_of!(abi::CUstreamBatchMemOpParams, value), offset_of!(sys::$theirs, __bindgen_anon_1));
            assert_eq!(offset_of!(abi::CUstreamBatchMemOpParams, flags), offset_of!(sys::$theirs, flags));
        )*};
    }
    form! {
        CUstreamBatchMemOpParams_union_CUstreamMemOpWaitValueParams_st
        CUstreamBatchMemOpParams_union_CUstreamMemOpWriteValueParams_st
    }
}

#[test]
fn graphs() {
    alike! {
        CUDA_KERNEL_NODE_PARAMS_v1 = CUDA_KERNEL_NODE_PARAMS_st {
            function = func, grid = gridDimX, block = blockDimX, dynamic_shared = sharedMemBytes, each = kernelParams,
            extra = extra,
        }
        CUDA_KERNEL_NODE_PARAMS_v2 = CUDA_KERNEL_NODE_PARAMS_v2_st { first = func, kernel = kern, context = ctx }
        CUDA_MEMSET_NODE_PARAMS_v1 = CUDA_MEMSET_NODE_PARAMS_st {
            to = dst, pitch = pitch, value = value, item = elementSize, width = width, height = height,
        }
        CUDA_MEMSET_NODE_PARAMS_v2 = CUDA_MEMSET_NODE_PARAMS_v2_st { first = dst, context = ctx }
        CUDA_HOST_NODE_PARAMS_v1 = CUDA_HOST_NODE_PARAMS_st { function = fn_, data = userData }
        CUDA_MEMCPY_NODE_PARAMS = CUDA_MEMCPY_NODE_PARAMS_st {
            flags = flags, reserved = reserved, context = copyCtx, copy = copyParams,
        }
        CUDA_MEM_ALLOC_NODE_PARAMS = CUDA_MEM_ALLOC_NODE_PARAMS_v2_st {
            pool = poolProps, access = accessDescs, count = accessDescCount, bytes = bytesize, address = dptr,
        }
        CUDA_CONDITIONAL_NODE_PARAMS = CUDA_CONDITIONAL_NODE_PARAMS {
            handle = handle, kind = type_, size = size, graphs = phGraph_out, context = ctx,
        }
        CUgraphNodeParams = CUgraphNodeParams_st {
            kind = type_, reserved = reserved0, value = __bindgen_anon_1, rest = reserved2,
        }
        AnyNodeParams = CUgraphNodeParams_st__bindgen_ty_1 {
            words = reserved1, kernel = kernel, copy = memcpy, fill = memset, host = host, graph = graph,
            event = eventWait, allocation = alloc, address = free, branch = conditional,
        }
        CUDA_GRAPH_INSTANTIATE_PARAMS = CUDA_GRAPH_INSTANTIATE_PARAMS_st {
            flags = flags, stream = hUploadStream, failed = hErrNode_out, result = result_out,
        }
        CUgraphExecUpdateResultInfo = CUgraphExecUpdateResultInfo_st {
            result = result, node = errorNode, from = errorFromNode,
        }
    }
}
