//! Fat binaries as NVIDIA's own compiler makes them, where it is there: every way of packing, and several
//! modules linked.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::ptr::null_mut;

use bugaroo_device::images::fatbin::{Compression, EntryKind, FatBinary, ImageChoice, choose};
use bugaroo_ptx::link::{LinkInput, link};
use cuda::Status;
use cuda::api::module::{cuModuleGetFunction, cuModuleLoadData};

use crate::support::{Device, download, launch, parameter, upload};

const SOURCE: &str = "
extern \"C\" __global__ void kernel(unsigned *x) { *x = 2 * *x + __CUDA_ARCH__; }
";

const CALLER: &str = "
extern __device__ unsigned helper(unsigned);
extern __device__ unsigned counter;
static __device__ unsigned offset = 1;
static __device__ __noinline__ unsigned local(unsigned x) { return x + offset + counter; }
extern \"C\" __global__ void kernel(unsigned *x) { *x = helper(local(*x)); }
";

const HELPER: &str = "
__device__ unsigned counter = 10;
static __device__ unsigned offset = 100;
static __device__ __noinline__ unsigned local(unsigned x) { return x + offset; }
__device__ unsigned helper(unsigned x) { return 2 * local(x); }
";

/// The folder of nvcc and ptxas: where `apps/rebuild-ptx` installs them. None, loudly, where there is none,
/// unless `BUGAROO_REQUIRE_PTXAS=1` demands one.
fn toolchain() -> Option<PathBuf> {
    let lib = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../target/cuda-toolchain/V/lib"));
    let versions = std::fs::read_dir(lib).into_iter().flatten().flatten();
    let mut folders = versions.map(|version| version.path().join("site-packages/nvidia/cu13/bin"));
    let found = folders.find(|folder| folder.join("nvcc").is_file());
    if found.is_none() {
        let demanded = std::env::var_os("BUGAROO_REQUIRE_PTXAS").is_some_and(|value| value == "1");
        assert!(!demanded, "BUGAROO_REQUIRE_PTXAS=1, but no nvcc: run apps/rebuild-ptx --install");
        eprintln!("\n*** SKIPPED: no nvcc (apps/rebuild-ptx --install) ***\n");
    }
    found
}

/// Compiles a source; the result as bytes.
fn compile(toolchain: &Path, folder: &Path, source: &str, flags: &[&str]) -> Vec<u8> {
    let (input, output) = (folder.join("source.cu"), folder.join("result"));
    std::fs::write(&input, source).expect("the folder can be written to");
    let mut nvcc = Command::new(toolchain.join("nvcc"));
    let said = nvcc.args(flags).arg(&input).arg("-o").arg(&output).output().expect("nvcc starts");
    assert!(said.status.success(), "nvcc {flags:?}: {}", String::from_utf8_lossy(&said.stderr));
    std::fs::read(&output).expect("nvcc wrote it")
}

/// Loads an image and runs its kernel on a number.
fn run(image: &[u8], value: u32) -> Result<u32, Status> {
    let _device = Device::new();
    let (mut module, mut kernel) = (null_mut(), null_mut());
    // SAFETY: places for handles, an image that tells its size or ends with a NUL, and a C string.
    unsafe {
        match cuModuleLoadData(&mut module, image.as_ptr().cast()) {
            Status::Success => {}
            status => return Err(status),
        }
        assert_eq!(cuModuleGetFunction(&mut kernel, module, c"kernel".as_ptr()), Status::Success);
    }
    let out = upload(&[value]);
    assert_eq!(launch(kernel, 1, 1, &[parameter(&out)]), Status::Success);
    Ok(download::<u32>(out, 1)?[0])
}

#[test]
fn every_way_of_packing_runs() {
    let Some(toolchain) = toolchain() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let modes = [("none", Compression::None), ("speed", Compression::Lz4), ("size", Compression::Zstd)];
    for (mode, compression) in modes {
        let mode = format!("--compress-mode={mode}");
        let flags = ["-fatbin", "-gencode", "arch=compute_75,code=[compute_75,sm_75]", &mode];
        let image = compile(&toolchain, folder.path(), SOURCE, &flags);
        let binary = FatBinary::parse(&image).expect("it is whole");
        let ptx = binary.entries.iter().find(|entry| entry.kind == EntryKind::Ptx).expect("it was asked for");
        assert_eq!(ptx.compression, compression, "{mode}");
        assert_eq!(run(&image, 5), Ok(760), "{mode}");
    }
}

#[test]
fn of_several_architectures_the_best_runs() {
    let Some(toolchain) = toolchain() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let several = [
        "-fatbin",
        "-gencode=arch=compute_75,code=compute_75",
        "-gencode=arch=compute_90,code=[sm_90,compute_90]",
        "-gencode=arch=compute_90a,code=compute_90a",
        "-gencode=arch=compute_100f,code=compute_100f",
        "-gencode=arch=compute_120,code=compute_120",
    ];
    let image = compile(&toolchain, folder.path(), SOURCE, &several);
    let binary = FatBinary::parse(&image).expect("it is whole");
    let architectures: Vec<String> =
        binary.entries.iter().map(|entry| entry.architecture.to_string()).collect();
    for known in ["sm_75", "sm_90", "sm_90a", "sm_100f", "sm_120"] {
        assert!(architectures.iter().any(|architecture| architecture == known), "{architectures:?}");
    }
    let ImageChoice::Ptx(best) = choose(&binary, (9, 0)) else { panic!("there is one") };
    assert_eq!(best.architecture.to_string(), "sm_90");
    assert_eq!(run(&image, 5), Ok(910));
    let image = compile(
        &toolchain,
        folder.path(),
        SOURCE,
        &["-fatbin", "-gencode=arch=compute_120,code=compute_120"],
    );
    let binary = FatBinary::parse(&image).expect("it is whole");
    assert!(matches!(choose(&binary, (9, 0)), ImageChoice::Later(_)));
    assert_eq!(run(&image, 5), Ok(1210));
    for (code, what) in [("sm_90", "machine code only"), ("compute_120a", "sm_120a"), ("lto_90", "-dlto")] {
        let arch = code.replace("sm_", "compute_").replace("lto_", "compute_");
        let flags =
            ["-fatbin".to_owned(), "-rdc=true".to_owned(), format!("-gencode=arch={arch},code={code}")];
        let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
        let image = compile(&toolchain, folder.path(), SOURCE, &flags);
        let binary = FatBinary::parse(&image).expect("it is whole");
        let ImageChoice::None(chosen) = choose(&binary, (9, 0)) else { panic!("{code} does not fit") };
        assert!(chosen.advice(90).contains(what), "{}", chosen.advice(90));
        assert_eq!(run(&image, 5), Err(Status::NoBinaryForGpu), "{code}");
    }
}

#[test]
fn relocatable_modules_are_linked_and_assemble() {
    let Some(toolchain) = toolchain() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    for arch in ["-arch=compute_75", "-arch=compute_90"] {
        let ptx = |source: &str| {
            let bytes = compile(&toolchain, folder.path(), source, &["-ptx", "-rdc=true", "-lineinfo", arch]);
            String::from_utf8(bytes).expect("PTX is text")
        };
        let (caller, helper) = (ptx(CALLER), ptx(HELPER));
        let inputs =
            [LinkInput { name: "caller", text: &caller }, LinkInput { name: "helper", text: &helper }];
        let linked = link(&inputs, &|_| false).expect("they fit");
        let (file, object) = (folder.path().join("linked.ptx"), folder.path().join("linked.cubin"));
        std::fs::write(&file, &linked).expect("the folder can be written to");
        let mut ptxas = Command::new(toolchain.join("ptxas"));
        let said = ptxas.arg(arch.replace("compute", "sm")).arg(&file).arg("-o").arg(&object).output();
        let said = said.expect("ptxas starts");
        assert!(said.status.success(), "{}\n{linked}", String::from_utf8_lossy(&said.stderr));
        let image = [linked.as_bytes(), &[0]].concat();
        assert_eq!(run(&image, 5), Ok(2 * (5 + 1 + 10 + 100)));
    }
}
