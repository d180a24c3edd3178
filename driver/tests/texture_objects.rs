//! Texture objects as things: what makes one, what is refused, what they tell, and what becomes of kernels whose objects are gone.

use std::ptr::{null, null_mut};

use bugaroo_cuda_abi::*;
use cuda::Status;
use cuda::api::array::cuArrayDestroy;
use cuda::api::texture::*;

use crate::support::{Device, download, launch, parameter, upload};
use crate::texture_support::*;

const EIGHT: CUDA_ARRAY3D_DESCRIPTOR =
    CUDA_ARRAY3D_DESCRIPTOR { width: 8, height: 0, depth: 0, format: 0x20, channels: 1, flags: 0 };

fn linear(linear: LinearResource) -> CUDA_RESOURCE_DESC {
    CUDA_RESOURCE_DESC { resource_type: 2, resource: AnyResource { linear }, flags: 0 }
}

fn pitched(pitched: PitchedResource) -> CUDA_RESOURCE_DESC {
    CUDA_RESOURCE_DESC { resource_type: 3, resource: AnyResource { pitched }, flags: 0 }
}

#[test]
fn what_is_no_texture_is_refused() {
    let _device = Device::new();
    let array = array(EIGHT, &[0; 32]);
    let memory = upload(&[0_u8; 4096]);
    let good = of_array(array);
    let line = LinearResource { address: memory, format: 1, channels: 1, bytes: 4096 };
    let rows = PitchedResource { address: memory, format: 1, channels: 4, width: 16, height: 64, pitch: 64 };
    assert!(texture(&good, &PLAIN).is_ok() && texture(&linear(line), &PLAIN).is_ok());
    assert!(texture(&pitched(rows), &PLAIN).is_ok());
    let invalid = [
        linear(LinearResource { address: 0, ..line }),
        linear(LinearResource { address: memory + 4, ..line }),
        linear(LinearResource { format: 7, ..line }),
        linear(LinearResource { channels: 3, ..line }),
        linear(LinearResource { bytes: 0, ..line }),
        linear(LinearResource { bytes: (1 << 28) + 1, ..line }),
        pitched(PitchedResource { width: 0, ..rows }),
        pitched(PitchedResource { width: 17, ..rows }),
        pitched(PitchedResource { height: 65001, ..rows }),
        pitched(PitchedResource { pitch: 72, ..rows }),
        pitched(PitchedResource { address: memory + 32, ..rows }),
        CUDA_RESOURCE_DESC { flags: 1, ..good },
        CUDA_RESOURCE_DESC { resource_type: 4, ..good },
    ];
    for resource in &invalid {
        // SAFETY: numbers alone.
        let what = unsafe { resource.resource.pitched };
        assert_eq!(texture(resource, &PLAIN), Err(Status::InvalidValue), "{resource:?} {what:?}");
    }
    let none = of_array(crate::support::number(0x1234));
    assert_eq!(texture(&none, &PLAIN), Err(Status::InvalidHandle));
    let how = [
        CUDA_TEXTURE_DESC { address_mode: [1, 4, 1], ..PLAIN },
        CUDA_TEXTURE_DESC { filter_mode: 2, ..PLAIN },
        CUDA_TEXTURE_DESC { flags: 0x100, ..PLAIN },
    ];
    for how in &how {
        assert_eq!(texture(&good, how), Err(Status::InvalidValue), "{how:?}");
    }
    // Only what is read as floats can be filtered.
    let filtered = CUDA_TEXTURE_DESC { filter_mode: 1, ..PLAIN };
    assert_eq!(texture(&pitched(rows), &filtered), Err(Status::InvalidValue));
    assert!(texture(&pitched(rows), &CUDA_TEXTURE_DESC { flags: 0, ..filtered }).is_ok());
    assert!(texture(&good, &filtered).is_ok());
    let words = pitched(PitchedResource { format: 3, channels: 1, ..rows });
    assert_eq!(texture(&words, &CUDA_TEXTURE_DESC { flags: 0, ..filtered }), Err(Status::InvalidValue));
    let bordered = CUDA_TEXTURE_DESC { address_mode: [3; 3], border_color: [1.0; 4], ..PLAIN };
    assert_eq!(texture(&words, &bordered), Err(Status::NotSupported));
    let mut object = 0;
    // SAFETY: null pointers, or places that are there.
    unsafe {
        assert_eq!(cuTexObjectCreate(null_mut(), &good, &PLAIN, null()), Status::InvalidValue);
        assert_eq!(cuTexObjectCreate(&mut object, null(), &PLAIN, null()), Status::InvalidValue);
        assert_eq!(cuTexObjectCreate(&mut object, &good, null(), null()), Status::InvalidValue);
    }
    assert_eq!(cuTexObjectDestroy(0x1234), Status::InvalidValue);
}

#[test]
fn views_change_the_format() {
    let device = Device::new();
    let module = kernels(&device);
    let bytes: Vec<u8> = (0..32).collect();
    let array = array(EIGHT, &bytes);
    let resource = of_array(array);
    let whole = CUDA_RESOURCE_VIEW_DESC {
        format: 0x03,
        width: 8,
        height: 0,
        depth: 0,
        first_mipmap_level: 0,
        last_mipmap_level: 0,
        first_layer: 0,
        last_layer: 0,
        reserved: [0; 16],
    };
    let make = |view: &CUDA_RESOURCE_VIEW_DESC| {
        let mut object = 0;
        // SAFETY: the places are there.
        let status = unsafe { cuTexObjectCreate(&mut object, &resource, &PLAIN, view) };
        if status == Status::Success { Ok(object) } else { Err(status) }
    };
    let object = make(&whole).expect("four bytes are as long as a float");
    let found = lookups(kernel(module, "d1_u32"), object, &[[2.5, 0.0, 0.0, 0.0]]);
    assert_eq!(found, Ok(vec![[8, 9, 10, 11]]));
    let mut told = CUDA_RESOURCE_VIEW_DESC { format: 0, width: 0, ..whole };
    // SAFETY: the place is there.
    assert_eq!(unsafe { cuTexObjectGetResourceViewDesc(&mut told, object) }, Status::Success);
    assert_eq!((told.format, told.width), (3, 8));
    let changed = |format, width| CUDA_RESOURCE_VIEW_DESC { format, width, ..whole };
    assert_eq!(make(&changed(0x02, 8)), Err(Status::InvalidValue));
    assert_eq!(make(&changed(0x40, 8)), Err(Status::InvalidValue));
    assert_eq!(make(&changed(0x03, 9)), Err(Status::InvalidValue));
    assert_eq!(make(&changed(0x19, 8)), Err(Status::NotSupported));
}

#[test]
fn objects_tell_what_they_were_made_from() {
    let _device = Device::new();
    let array = array(EIGHT, &[0; 32]);
    let how = CUDA_TEXTURE_DESC { address_mode: [0, 1, 2], flags: 2, max_anisotropy: 3, ..PLAIN };
    let object = texture(&of_array(array), &how).expect("it is made");
    let (mut resource, mut told) = (NO_RESOURCE, PLAIN);
    let view = null_mut();
    // SAFETY: the places are there, or null; the member is the type's.
    unsafe {
        assert_eq!(cuTexObjectGetResourceDesc(&mut resource, object), Status::Success);
        assert_eq!(cuTexObjectGetTextureDesc(&mut told, object), Status::Success);
        assert_eq!((resource.resource_type, resource.resource.array), (0, array));
        assert_eq!(told, how);
        assert_eq!(cuTexObjectGetTextureDesc(null_mut(), object), Status::InvalidValue);
        assert_eq!(cuTexObjectGetResourceViewDesc(view, object), Status::InvalidValue);
        assert_eq!(cuTexObjectDestroy(object), Status::Success);
        assert_eq!(cuTexObjectGetResourceDesc(&mut resource, object), Status::InvalidValue);
        assert_eq!(cuTexObjectDestroy(object), Status::InvalidValue);
    }
}

/// What a lookup of one kernel gives.
fn lookup(name: &str, object: CUtexObject) -> Result<Vec<[u32; 4]>, Status> {
    let device = Device::new();
    let module = kernels(&device);
    let found = lookups(kernel(module, name), object, &[[0.0; 4]]);
    // A context with a fault is only good for its end.
    found
}

#[test]
fn lookups_through_nothing_fault() {
    assert_eq!(lookup("d1_f32", 0), Err(Status::IllegalAddress));
    assert_eq!(lookup("d1_f32", 0x1234_5678), Err(Status::IllegalAddress));
    // The memory behind the object is gone.
    let device = Device::new();
    let module = kernels(&device);
    let array = array(EIGHT, &[0; 32]);
    let object = texture(&of_array(array), &PLAIN).expect("it is made");
    assert!(lookups(kernel(module, "d1_f32"), object, &[[0.0; 4]]).is_ok());
    assert_eq!(cuArrayDestroy(array), Status::Success);
    assert_eq!(lookups(kernel(module, "d1_f32"), object, &[[0.0; 4]]), Err(Status::IllegalAddress));
}

#[test]
fn an_instruction_for_another_shape_faults() {
    let device = Device::new();
    let module = kernels(&device);
    let array = array(EIGHT, &[0; 32]);
    let object = texture(&of_array(array), &PLAIN).expect("it is made");
    assert_eq!(lookups(kernel(module, "d3_f32"), object, &[[0.0; 4]]), Err(Status::IllegalAddress));
}

#[test]
fn linear_memory_that_is_shorter_than_said_faults_where_it_ends() {
    let device = Device::new();
    let module = kernels(&device);
    let address = upload(&[7_u32; 16]);
    let line = linear(LinearResource { address, format: 3, channels: 1, bytes: 1 << 20 });
    let object = texture(&line, &PLAIN).expect("it is made");
    let at = |index: u32| [[f32::from_bits(index), 0.0, 0.0, 0.0]];
    let fetch = kernel(module, "fetch_u32");
    assert_eq!(lookups(fetch, object, &at(15)), Ok(vec![[7, 0, 0, 0]]));
    assert_eq!(lookups(fetch, object, &at(1 << 20)), Ok(vec![[0; 4]]));
    assert_eq!(lookups(fetch, object, &at(16)), Err(Status::IllegalAddress));
}

#[test]
fn an_object_that_is_destroyed_behind_the_launch_serves_it() {
    let device = Device::new();
    let module = kernels(&device);
    let address = upload(&(0..64).map(|at| at as f32).collect::<Vec<f32>>());
    let line = linear(LinearResource { address, format: 0x20, channels: 1, bytes: 256 });
    let (object, out) = (texture(&line, &PLAIN).expect("it is made"), upload(&[0.0_f32; 32]));
    let parameters = [parameter(&object), parameter(&object), parameter(&out)];
    assert_eq!(launch(kernel(module, "two"), 1, 32, &parameters), Status::Success);
    assert_eq!(cuTexObjectDestroy(object), Status::Success);
    assert_eq!(download::<f32>(out, 32), Ok((0..32).map(|at| at as f32).collect()));
    // And none that comes later.
    assert!(texture(&line, &PLAIN).is_ok());
    assert_eq!(launch(kernel(module, "two"), 1, 32, &parameters), Status::Success);
    assert_eq!(download::<f32>(out, 32), Err(Status::IllegalAddress));
}
