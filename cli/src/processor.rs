//! Whether this processor runs this build, asked before anything else does run.
//!
//! On x86-64 the workspace is built for the x86-64-v3 level, so that nearly all code may use instructions which an older
//! processor lacks; the standard library's detection answers from the build's target and so is always content. What is
//! here works on single registers and hands a finished text to the (generic) standard library: there is nothing in it to
//! vectorise. Tried under `qemu-x86_64 -cpu Nehalem`.

/// Ends the process with a clear message if the processor is too old.
#[inline(always)]
pub(crate) fn check() {
    #[cfg(all(target_arch = "x86_64", target_feature = "avx2"))]
    if !level_3() {
        refuse();
    }
}

/// Whether the processor has what x86-64-v3 adds: AVX2, BMI1, BMI2, FMA, LZCNT and MOVBE, and a system that saves the wide
/// registers.
#[cfg(all(target_arch = "x86_64", target_feature = "avx2"))]
#[inline(never)]
fn level_3() -> bool {
    use std::arch::x86_64::{__cpuid, __cpuid_count};

    // Leaf 1, ECX: FMA 12, MOVBE 22, POPCNT 23, OSXSAVE 27, AVX 28.
    const BASIC: u32 = 1 << 12 | 1 << 22 | 1 << 23 | 1 << 27 | 1 << 28;
    // Leaf 7, EBX: BMI1 3, AVX2 5, BMI2 8.
    const EXTENDED: u32 = 1 << 3 | 1 << 5 | 1 << 8;
    // Leaf 0x8000_0001, ECX: LZCNT 5.
    const MORE: u32 = 1 << 5;

    let (highest, highest_more) = (__cpuid(0).eax, __cpuid(0x8000_0000).eax);
    highest >= 7
        && highest_more >= 0x8000_0001
        && __cpuid(1).ecx & BASIC == BASIC
        && __cpuid_count(7, 0).ebx & EXTENDED == EXTENDED
        && __cpuid(0x8000_0001).ecx & MORE == MORE
}

#[cfg(all(target_arch = "x86_64", target_feature = "avx2"))]
#[cold]
#[inline(never)]
fn refuse() -> ! {
    const MESSAGE: &[u8] =
        b"corridor: this build needs an x86-64-v3 processor (AVX2, BMI2, FMA; most since 2013), which \
                            this is not; build with RUSTFLAGS='-C target-cpu=x86-64' for it\n";
    crate::out::last_words(MESSAGE);
    std::process::exit(1)
}
