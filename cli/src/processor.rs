//! Whether this processor runs this build.

/// On x86-64 the workspace is built for the x86-64-v3 level. The standard library's own detection answers from the build's
/// target and so is always content; this asks the processor.
///
/// # Errors
/// Names what is missing.
#[cfg(all(target_arch = "x86_64", target_feature = "avx2"))]
#[inline(never)]
pub(crate) fn check() -> anyhow::Result<()> {
    let cpuid = raw_cpuid::CpuId::new();
    let mut missing = Vec::new();
    let mut need = |present: bool, name: &'static str| {
        if !present {
            missing.push(name);
        }
    };
    let basic = cpuid.get_feature_info();
    need(basic.as_ref().is_some_and(|info| info.has_popcnt()), "popcnt");
    need(basic.as_ref().is_some_and(|info| info.has_fma()), "fma");
    need(basic.as_ref().is_some_and(|info| info.has_oxsave() && info.has_avx()), "avx");
    let extended = cpuid.get_extended_feature_info();
    need(extended.as_ref().is_some_and(|info| info.has_avx2()), "avx2");
    need(extended.as_ref().is_some_and(|info| info.has_bmi1()), "bmi1");
    need(extended.as_ref().is_some_and(|info| info.has_bmi2()), "bmi2");
    let more = cpuid.get_extended_processor_and_feature_identifiers();
    need(more.as_ref().is_some_and(|info| info.has_lzcnt()), "lzcnt");
    if missing.is_empty() {
        return Ok(());
    }
    anyhow::bail!(
        "this build needs an x86-64-v3 processor (2013 or later); yours lacks {}. Build with \
         RUSTFLAGS='-C target-cpu=x86-64' for it",
        missing.join(", ")
    )
}

/// Any other build runs wherever it starts.
#[cfg(not(all(target_arch = "x86_64", target_feature = "avx2")))]
pub(crate) fn check() -> anyhow::Result<()> {
    Ok(())
}
