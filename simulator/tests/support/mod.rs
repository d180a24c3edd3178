//! Launching without ceremony.

use bugaroo_simulator::{
    AllocationKind, DeviceConfig, LaunchResult, LaunchSpec, Memory, Program, RandomScheduler, launch,
};

/// A device with one loaded module.
pub struct Device {
    pub memory: Memory,
    pub program: Program,
    pub config: DeviceConfig,
}

impl Device {
    pub fn new(ptx: &str) -> Device {
        Device::with(ptx, DeviceConfig::default())
    }

    pub fn with(ptx: &str, config: DeviceConfig) -> Device {
        let module = bugaroo_ptx::parse(ptx).expect("the test's PTX parses");
        let mut memory = Memory::new(1 << 28).expect("address space");
        let program = Program::load(&module, &mut memory, &config).expect("the test's PTX loads");
        Device { memory, program, config }
    }

    /// A buffer of so many zero bytes.
    pub fn buffer(&mut self, bytes: u64) -> u64 {
        self.memory.alloc(bytes, 256, AllocationKind::Program).expect("room")
    }

    /// Launches with 64-bit parameters.
    pub fn launch(&mut self, kernel: &str, grid: u32, block: u32, params: &[u64], seed: u64) -> LaunchResult {
        let bytes: Vec<u8> = params.iter().flat_map(|p| p.to_le_bytes()).collect();
        let spec = LaunchSpec {
            kernel,
            grid: [grid, 1, 1],
            block: [block, 1, 1],
            dynamic_shared: 0,
            params: &bytes,
            cluster: None,
            step_budget: Some(50_000_000),
        };
        let mut scheduler = RandomScheduler::new(seed);
        launch(&self.program, &mut self.memory, &self.config, &spec, &mut scheduler).expect("a legal launch")
    }

    /// The 32-bit words of a buffer.
    pub fn words(&self, address: u64, count: usize) -> Vec<u32> {
        let mut bytes = vec![0; count * 4];
        self.memory.read(address, &mut bytes).expect("allocated");
        bytes.chunks(4).map(|b| u32::from_le_bytes(b.try_into().expect("four bytes"))).collect()
    }
}
