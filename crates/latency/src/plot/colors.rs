//! Chooses colours: of lines that are told apart, and of densities.

/// Red, green, blue.
pub type Color = [u8; 3];

pub const INK: Color = [38, 42, 48];
pub const FAINT_INK: Color = [104, 110, 118];
pub const GRID: Color = [230, 233, 237];
pub const AXIS: Color = [150, 156, 164];
pub const PAPER: Color = [255, 255, 255];

/// Told apart by people who see fewer colours, too (after Okabe and Ito), and dark enough on white.
const LINES: [Color; 12] = [
    [0, 114, 178],
    [213, 94, 0],
    [0, 140, 105],
    [178, 92, 150],
    [200, 145, 0],
    [70, 160, 215],
    [110, 90, 60],
    [130, 70, 205],
    [165, 15, 55],
    [115, 150, 20],
    [35, 45, 115],
    [135, 135, 135],
];

/// How a line is drawn: where colours come again, lines differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stroke {
    Solid,
    Dashed,
    Dotted,
}

/// How the line of a label is drawn.
pub fn stroke(number: usize) -> Stroke {
    match number / LINES.len() {
        0 => Stroke::Solid,
        1 => Stroke::Dashed,
        _ => Stroke::Dotted,
    }
}

/// The colour of a label.
pub fn line(number: usize) -> Color {
    LINES[number % LINES.len()]
}

/// A lighter colour: 0 leaves it, 1 is white.
pub fn lighter(color: Color, share: f64) -> Color {
    mix(color, PAPER, share)
}

/// The colour of a maximum, which is drawn over the other lines: the highest percentile is often
/// the same, and both must be seen.
pub const MAXIMUM: Color = [25, 25, 30];

/// From few to many.
const DENSITIES: [Color; 6] = [
    [255, 247, 200],
    [254, 204, 120],
    [247, 140, 80],
    [214, 70, 95],
    [130, 30, 110],
    [35, 10, 75],
];

/// The colour of a density between 0 and 1.
pub fn density(share: f64) -> Color {
    let place = share.clamp(0.0, 1.0) * (DENSITIES.len() - 1) as f64;
    let below = (place as usize).min(DENSITIES.len() - 2);
    mix(DENSITIES[below], DENSITIES[below + 1], place - below as f64)
}

fn mix(one: Color, other: Color, share: f64) -> Color {
    let part = |of: usize| {
        let (one, other) = (f64::from(one[of]), f64::from(other[of]));
        (one + (other - one) * share).round() as u8
    };
    [part(0), part(1), part(2)]
}
