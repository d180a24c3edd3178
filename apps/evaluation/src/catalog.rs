//! The programs and variants that the evaluation runs, and how.

use bugaroo_protocol::Model;

/// A program under test.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    /// Its binary.
    pub name: &'static str,
    /// What its own check compares.
    pub check: &'static str,
    /// Its variants, as in the paper's Table IV, and [`PTX_CORRECT`].
    pub variants: &'static [Variant],
    /// The launch of the paper's size, the default: CTAs, and threads of each.
    pub launch: (u64, u64),
    /// What makes it quick, where the paper's size takes seconds.
    pub small: Option<Small>,
}

/// A smaller size.
#[derive(Clone, Copy, Debug)]
pub struct Small {
    /// Arguments.
    pub args: &'static [&'static str],
    /// The launch then.
    pub launch: (u64, u64),
}

/// A variant of a program.
#[derive(Clone, Copy, Debug)]
pub struct Variant {
    /// As `--variant` takes it; `original` where there is but one.
    pub name: &'static str,
    /// Fences in the code.
    pub fences: u32,
    /// Under what it never fails.
    pub correct: Correct,
}

/// How much of the PTX memory model a variant stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Correct {
    /// It fails where stores are delayed.
    Never,
    /// It fails only where loads read old values, too.
    Delays,
    /// It is right under all of the model.
    Ptx,
}

impl Variant {
    /// Whether a model that shows nothing forbidden never makes it fail.
    pub fn correct_under(&self, model: Model) -> bool {
        match model {
            Model::StoreBuffer => self.correct >= Correct::Delays,
            Model::Ptx => self.correct == Correct::Ptx,
            // The paper's own shows more than is allowed.
            Model::Bugaroo => false,
        }
    }
}

const fn variant(name: &'static str, fences: u32, correct: Correct) -> Variant {
    Variant { name, fences, correct }
}

/// The variant with the fewest fences that are right under all that the PTX memory model allows; the paper has none.
pub const PTX_CORRECT: &str = "ptx_correct";

/// The only variant of the programs without fences.
pub const ORIGINAL: &str = "original";
const ONE: &[Variant] = &[variant(ORIGINAL, 0, Correct::Ptx)];

/// Table IV's programs, and then the three without fences.
pub const PROGRAMS: [Program; 7] = [
    Program {
        name: "cbe_dot",
        check: "sum equals the CPU's, exactly (whole numbers in floats)",
        variants: &[
            variant("original_2_fence", 2, Correct::Ptx),
            variant("1_fence", 1, Correct::Delays),
            variant("no_fence", 0, Correct::Never),
            variant(PTX_CORRECT, 2, Correct::Ptx),
        ],
        launch: (32, 256),
        small: None,
    },
    Program {
        name: "ct_octree",
        check: "octree equals the CPU's, exactly: every particle in its leaf, every task taken once",
        variants: &[
            variant("original_no_fence", 0, Correct::Never),
            variant("1_fence", 1, Correct::Ptx),
            variant(PTX_CORRECT, 1, Correct::Ptx),
        ],
        launch: (16, 64),
        small: None,
    },
    Program {
        name: "sdk_red",
        check: "sum equals the CPU's, exactly",
        variants: &[
            variant("original_1_fence", 1, Correct::Delays),
            variant("no_fence", 0, Correct::Never),
            variant(PTX_CORRECT, 2, Correct::Ptx),
        ],
        launch: (64, 128),
        small: None,
    },
    Program {
        name: "cub_scan",
        check: "all prefix sums equal the CPU's, exactly",
        variants: &[
            variant("original_all_3_fence", 3, Correct::Delays),
            variant("f1_f2_fence", 2, Correct::Never),
            variant("f1_f3_fence", 2, Correct::Never),
            variant("f2_f3_fence", 2, Correct::Never),
            variant("no_fence", 0, Correct::Never),
            variant(PTX_CORRECT, 7, Correct::Ptx),
        ],
        launch: (81, 128),
        small: None,
    },
    Program {
        name: "kmeans",
        check: "every centre within a millionth of its length of the CPU's",
        variants: ONE,
        launch: (1, 256),
        small: None,
    },
    Program {
        name: "streamcluster",
        check: "as many clusters as the CPU finds; centres and cost within a millionth",
        variants: ONE,
        launch: (16, 256),
        small: Some(Small { args: &["--size", "128", "--gains", "60"], launch: (1, 256) }),
    },
    Program {
        name: "hotspot",
        check: "every temperature within a hundredth of a kelvin of the CPU's",
        variants: ONE,
        launch: (36, 256),
        small: None,
    },
];

/// Variants whose metadata and run time Tables II and III show: those that never fail.
pub const MEASURED: [(&str, &str); 8] = [
    ("cbe_dot", "original_2_fence"),
    ("cbe_dot", "1_fence"),
    ("ct_octree", "1_fence"),
    ("sdk_red", "original_1_fence"),
    ("cub_scan", "original_all_3_fence"),
    ("kmeans", ORIGINAL),
    ("streamcluster", ORIGINAL),
    ("hotspot", ORIGINAL),
];

/// A program by its name.
pub fn program(name: &str) -> Option<&'static Program> {
    PROGRAMS.iter().find(|program| program.name == name)
}

impl Program {
    /// A variant by its name.
    pub fn variant(&self, name: &str) -> Option<&'static Variant> {
        self.variants.iter().find(|variant| variant.name == name)
    }

    /// Arguments that select a variant, and the small size if that is wanted and there is one.
    pub fn args(&self, variant: &str, small: bool) -> Vec<String> {
        let mut args: Vec<&str> = Vec::new();
        if self.variants.len() > 1 {
            args.extend(["--variant", variant]);
        }
        if let Some(size) = self.small.filter(|_| small) {
            args.extend(size.args);
        }
        args.into_iter().map(str::to_owned).collect()
    }

    /// CTAs of a launch, and threads of each.
    pub fn launch(&self, small: bool) -> (u64, u64) {
        self.small.filter(|_| small).map_or(self.launch, |small| small.launch)
    }

    /// The variants that Tables II and III show. The first is the one that stands for the program.
    pub fn measured(&self) -> impl Iterator<Item = &'static str> {
        MEASURED.iter().filter(|(program, _)| *program == self.name).map(|(_, variant)| *variant)
    }
}

#[cfg(test)]
mod tests;
