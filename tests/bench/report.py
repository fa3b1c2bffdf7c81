def table(found, *a):
    out = []
    for f in found:
        out.append(f.cell.name)
        for k, t in f.tallies.items():
            if t.counted:
                out.append(
                    f"   {k:45s} {t.share:.4f} ± {t.error:.4f} below {t.below / t.counted:.4f} above {t.above / t.counted:.4f} without {t.without}"
                )
    return "\n".join(out)
