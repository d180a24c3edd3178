//! The chip: its physics as coefficients of a step, its inputs, and the host's own simulation.

use bugaroo_apps_host::noise;

/// Side of the square chip, in metres.
const SIDE: f32 = 0.016;
/// Thickness of the silicon, in metres.
const THICKNESS: f32 = 0.0005;
/// Most heat made in an area, in watts per square metre.
const POWER_DENSITY: f32 = 3.0e6;
/// Thermal conductivity of silicon, in watts per metre and kelvin.
const CONDUCTIVITY: f32 = 100.0;
/// Factors of one time step, as the kernel takes them.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// Kelvin per watt made in the cell.
    pub heating: f32,
    /// Share of the difference to each neighbour that flows.
    pub lateral: f32,
    /// Share of the difference to the ambient that flows.
    pub vertical: f32,
    /// Temperature of the surroundings, in kelvin.
    pub ambient: f32,
}

/// A chip of square cells, row by row.
pub struct Chip {
    /// Cells along a side.
    pub size: usize,
    /// Heat made in each cell, in watts.
    pub power: Vec<f32>,
    /// Temperature of each cell at the start, in kelvin.
    pub temperature: Vec<f32>,
    /// What a time step does.
    pub step: Step,
}

impl Chip {
    /// The chip with `size` cells along a side. The inputs depend on nothing else; neighbours start
    /// some ten kelvin apart, so that a stale neighbour is seen.
    pub fn new(size: usize) -> Chip {
        let cell = SIDE / size as f32;
        // In watts per kelvin: to the middle of a neighbouring cell, and to the surroundings.
        let to_neighbour = 2.0 * CONDUCTIVITY * THICKNESS;
        let to_ambient = CONDUCTIVITY * cell * cell / THICKNESS;
        // So long a step that a cell keeps a fifth of its own temperature and takes the rest from
        // around it: the scheme is stable, as each result is an average, and a stale neighbour weighs.
        let heating = 0.8 / (4.0 * to_neighbour + to_ambient);
        let cells = (size * size) as u64;
        Chip {
            size,
            power: (0..cells).map(|i| POWER_DENSITY * cell * cell * noise(1, i)).collect(),
            temperature: (0..cells).map(|i| 323.0 + 20.0 * noise(2, i)).collect(),
            step: Step {
                heating,
                lateral: heating * to_neighbour,
                vertical: heating * to_ambient,
                ambient: 353.0,
            },
        }
    }

    /// The temperatures after `steps` steps, in kelvin: the stencil over the whole chip, a step at a
    /// time, without any blocking.
    pub fn simulate(&self, steps: u32) -> Vec<f32> {
        let Step { heating, lateral, vertical, ambient } = self.step;
        let last = self.size - 1;
        let mut now = self.temperature.clone();
        let mut later = now.clone();
        for _ in 0..steps {
            for y in 0..self.size {
                for x in 0..self.size {
                    let at = |x: usize, y: usize| now[y * self.size + x];
                    let here = at(x, y);
                    let around = (at(x, y.saturating_sub(1)) + at(x, (y + 1).min(last)) - 2.0 * here)
                        + (at(x.saturating_sub(1), y) + at((x + 1).min(last), y) - 2.0 * here);
                    let heat = self.power[y * self.size + x];
                    later[y * self.size + x] =
                        here + (heating * heat + lateral * around + vertical * (ambient - here));
                }
            }
            std::mem::swap(&mut now, &mut later);
        }
        now
    }
}

#[cfg(test)]
mod tests;
