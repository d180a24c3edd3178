//! Cubes: a direction to a face and a place in it (CUDA Programming Guide, "Cubemap Textures").
//!
//! The guide leaves open which face a direction goes to that lies just between two: here to that of the earlier axis. Faces are filtered
//! each by itself: its edge counts as the end of the texture.

/// The face that a direction from the middle of the cube points at, and the normalised coordinates there. What points nowhere, points
/// at the middle of a face.
pub fn face(direction: [f32; 3]) -> (u64, [f32; 3]) {
    let [x, y, z] = direction.map(|part| if part.is_nan() { 0.0 } else { f64::from(part) });
    let (face, major, s, t) = if x.abs() >= y.abs() && x.abs() >= z.abs() {
        if x >= 0.0 { (0, x, -z, -y) } else { (1, -x, z, -y) }
    } else if y.abs() >= z.abs() {
        if y >= 0.0 { (2, y, x, z) } else { (3, -y, x, -z) }
    } else if z >= 0.0 {
        (4, z, x, -y)
    } else {
        (5, -z, -x, -y)
    };
    // Infinite ones, and none, have no quotient.
    let part = |along: f64| {
        let quotient = along / major;
        (if quotient.is_nan() { 0.5 } else { (quotient + 1.0) / 2.0 }) as f32
    };
    (face, [part(s), part(t), 0.0])
}
