//! Why our failures and the paper's differ where they do: what is known, by looking at failing trials and at both
//! algorithms. Explanations, nothing that the evaluation computes.

use bugaroo_protocol::Model;

use crate::kind::Kind;

/// A cause, and what it is the cause of.
struct Cause {
    program: &'static str,
    variants: &'static [&'static str],
    models: &'static [Model],
    kinds: &'static [Kind],
    text: &'static str,
}

const BOTH: &[Model] = &[Model::StoreBuffer, Model::Bugaroo];
const SOUND: &[Model] = &[Model::StoreBuffer];
const PAPERS: &[Model] = &[Model::Bugaroo];

const CAUSES: &[Cause] = &[
    Cause {
        program: "cbe_dot",
        variants: &["no_fence"],
        models: BOTH,
        kinds: &[Kind::Size],
        text: "A trial fails when one of the 31 hand-overs of the lock meets a delayed store. The new owner of the lock \
               reads the sum before the old one's thread exits in about every second case, by the random scheduler; \
               on the K80 the others spin while the owner takes microseconds, so that the next one is always there.",
    },
    Cause {
        program: "sdk_red",
        variants: &["no_fence"],
        models: SOUND,
        kinds: &[Kind::Size],
        text: "A trial fails when the last block adds up while another block is between its ticket and its exit, with \
               its partial sum still delayed. That way is a few instructions here, and only blocks that took one of \
               the last tickets are on it. On the K80 the 64 blocks run side by side, and each thread goes through \
               the handlers of its exit.",
    },
    Cause {
        program: "sdk_red",
        variants: &["no_fence"],
        models: PAPERS,
        kinds: &[Kind::Size],
        text: "Nearly every failure is the last block's own partial sum, which another of its threads reads: Algorithm 1 \
               does not drain global stores at a __syncthreads(), so that the rate follows p_w. Other blocks add to it \
               when they are between ticket and exit, which is a few instructions here; on the K80 the 64 blocks run \
               side by side.",
    },
    Cause {
        program: "cub_scan",
        variants: &["f1_f2_fence", "f1_f3_fence"],
        models: SOUND,
        kinds: &[Kind::OursAlone, Kind::Size],
        text: "store-buffer shows the newest of a thread's delayed stores first, so the status before the value, which PTX \
               allows; Algorithm 1 goes through its buffer in order. Our descriptors hold what an earlier run left \
               there, so that a value that is read too early is always a wrong one.",
    },
    Cause {
        program: "cub_scan",
        variants: &["f2_f3_fence", "no_fence"],
        models: SOUND,
        kinds: &[Kind::OursAlone, Kind::Size],
        text: "Without f1, store-buffer lets the initialisation of a descriptor, which the grid barrier's \
               __syncthreads() ordered for its own block, stay invisible to other blocks until a fence; PTX allows it. \
               The paper explains its low rate of f2_f3_fence by that very __syncthreads(). Our descriptors hold what \
               an earlier run left there, so that a status that is read too early is always a wrong one.",
    },
    Cause {
        program: "cub_scan",
        variants: &["f1_f2_fence", "f1_f3_fence"],
        models: PAPERS,
        kinds: &[Kind::OursAlone, Kind::Size],
        text: "A value is delayed and the status after it is not; or both are, but by Algorithm 1 a delayed store first \
               happens and is then taken back, and the status is seen in between, when the value is taken back \
               already. On the K80 that moment is short, here the scheduler may switch at any instruction, and a \
               tile's successors wait for nothing else. Our descriptors hold what an earlier run left there, so that \
               a value that is read too early is always a wrong one. Some trials hang, for the reason given at \
               original_all_3_fence.",
    },
    Cause {
        program: "cub_scan",
        variants: &["f2_f3_fence", "no_fence"],
        models: PAPERS,
        kinds: &[Kind::OursAlone, Kind::Size],
        text: "Algorithm 1 to the letter drains global stores at a fence or the thread's exit and nowhere else, \
               not at a __syncthreads() (line 40). Without f1 the initialisation of a descriptor thus comes after the \
               grid barrier, and our descriptors hold what an earlier run left there. The paper explains its low rate \
               of f2_f3_fence by the __syncthreads() after f1, as if that drained global stores. Some trials hang, \
               for the reason given at original_all_3_fence.",
    },
    Cause {
        program: "cub_scan",
        variants: &["original_all_3_fence"],
        models: PAPERS,
        kinds: &[Kind::OursAlone],
        text: "A false alarm of Algorithm 1, which store-buffer does not raise: a delayed store first happens and is then \
               taken back. In the grid barrier block 0 sees a block's flag in between and clears it, and then the \
               flag drains over the cleared one: that block waits for ever. On the K80 the moment is short, here the \
               scheduler may switch at any instruction. At p_w 1 the clearing itself is delayed and comes last.",
    },
];

/// The cause of a difference, if it is known.
pub fn of(program: &str, variant: &str, model: Model, kind: Kind) -> Option<&'static str> {
    let cause = CAUSES.iter().find(|cause| {
        cause.program == program
            && cause.variants.contains(&variant)
            && cause.models.contains(&model)
            && cause.kinds.contains(&kind)
    });
    cause.map(|cause| cause.text)
}

#[cfg(test)]
mod tests;
