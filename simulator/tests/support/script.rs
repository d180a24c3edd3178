//! Directives in the comments of a test file, one per line, beginning with `//!`:
//!
//! ```text
//! buffer NAME TYPE COUNT [= VALUES]      device memory, zero unless said otherwise
//! launch KERNEL GRID BLOCK [shared=N] [budget=N] [lockstep] : ARGUMENTS
//! expect NAME = VALUES                   contents after all launches
//! end complete | fault TEXT | deadlock TEXT | budget TEXT     how the last launch ends; TEXT occurs in it
//! refuse TEXT                            the launch is refused, and TEXT occurs in the message
//! seeds N                                how many schedules to try (3)
//! ```
//! Types: u8 u16 u32 u64 s32 f32 f64. Extents: `4`, `4,2`, `4,2,1`. Arguments: a buffer's name (optionally
//! `NAME+BYTES`), or `TYPE:VALUE`. Values: numbers (`7`, `-1`, `0xff`, `1.5`), `V@N` (N times V),
//! `A..B` and `A..B*K+C` (a progression).

/// A script.
#[derive(Debug, Default)]
pub struct Script {
    pub buffers: Vec<Buffer>,
    pub launches: Vec<Launch>,
    pub expects: Vec<(String, String)>,
    pub end: Option<(String, String)>,
    pub refuse: Option<String>,
    pub seeds: u64,
}

#[derive(Debug)]
pub struct Buffer {
    pub name: String,
    pub ty: String,
    pub count: usize,
    pub init: Vec<u8>,
}

#[derive(Debug)]
pub struct Launch {
    pub kernel: String,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub shared: u32,
    pub budget: Option<u64>,
    pub lockstep: bool,
    pub arguments: Vec<String>,
}

/// Size of a type in bytes.
pub fn size(ty: &str) -> usize {
    ty[1..].parse::<usize>().expect("a type such as u32") / 8
}

/// One value as bytes.
pub fn encode(ty: &str, text: &str) -> Vec<u8> {
    let hex = text.strip_prefix("0x").map(|h| u64::from_str_radix(h, 16).expect("hexadecimal"));
    let bits = match (ty, hex) {
        (_, Some(bits)) => bits,
        ("f32", _) => u64::from(text.parse::<f32>().expect("a number").to_bits()),
        ("f64", _) => text.parse::<f64>().expect("a number").to_bits(),
        _ => text.parse::<i128>().expect("a number") as u64,
    };
    bits.to_le_bytes()[..size(ty)].to_vec()
}

/// A list of values as bytes.
pub fn values(ty: &str, text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    for word in text.split_whitespace() {
        if let Some((from, rest)) = word.split_once("..") {
            let (to, rest) = rest.split_once('*').unwrap_or((rest, "1"));
            let (factor, offset) = rest.split_once('+').unwrap_or((rest, "0"));
            let number = |text: &str| text.parse::<i64>().expect("a number");
            for i in number(from)..number(to) {
                bytes.extend(encode(ty, &(i * number(factor) + number(offset)).to_string()));
            }
        } else if let Some((value, times)) = word.split_once('@') {
            bytes.extend(encode(ty, value).repeat(times.parse().expect("a count")));
        } else {
            bytes.extend(encode(ty, word));
        }
    }
    bytes
}

fn extent(text: &str) -> [u32; 3] {
    let mut extent = [1; 3];
    for (d, part) in text.split(',').enumerate() {
        extent[d] = part.parse().expect("an extent");
    }
    extent
}

/// Reads the directives of a file.
pub fn parse(text: &str) -> Script {
    let mut script = Script { seeds: 3, ..Script::default() };
    for line in text.lines().filter_map(|l| l.trim().strip_prefix("//!")) {
        let line = line.trim();
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "buffer" => {
                let (head, init) = rest.split_once('=').unwrap_or((rest, ""));
                let words: Vec<_> = head.split_whitespace().collect();
                let [name, ty, count] = words[..] else { panic!("bad directive: {line}") };
                script.buffers.push(Buffer {
                    name: name.to_string(),
                    ty: ty.to_string(),
                    count: count.parse().expect("a count"),
                    init: values(ty, init),
                });
            }
            "launch" => {
                let (head, arguments) = rest.split_once(':').unwrap_or((rest, ""));
                let words: Vec<_> = head.split_whitespace().collect();
                let option = |key: &str| words.iter().find_map(|w| w.strip_prefix(key));
                script.launches.push(Launch {
                    kernel: words[0].to_string(),
                    grid: extent(words[1]),
                    block: extent(words[2]),
                    shared: option("shared=").map_or(0, |n| n.parse().expect("a number")),
                    budget: option("budget=").map(|n| n.parse().expect("a number")),
                    lockstep: words.contains(&"lockstep"),
                    arguments: arguments.split_whitespace().map(str::to_string).collect(),
                });
            }
            "expect" => {
                let (name, values) = rest.split_once('=').expect("NAME = VALUES");
                script.expects.push((name.trim().to_string(), values.to_string()));
            }
            "end" => {
                let (how, text) = rest.split_once(' ').unwrap_or((rest, ""));
                script.end = Some((how.to_string(), text.trim().to_string()));
            }
            "refuse" => script.refuse = Some(rest.trim().to_string()),
            "seeds" => script.seeds = rest.trim().parse().expect("a number"),
            _ => panic!("unknown directive: {line}"),
        }
    }
    script
}
