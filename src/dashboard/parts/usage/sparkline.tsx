/** A small line without a scale, for tiles. */
const WIDTH = 180;
const HEIGHT = 26;

export function Sparkline({ values }: { readonly values: readonly (number | null)[] }) {
  const most = Math.max(1, ...values.map((value) => value ?? 0));
  const step = WIDTH / Math.max(1, values.length - 1);
  const points = values.flatMap((value, place) =>
    value === null ? [] : [`${place * step},${HEIGHT - (value / most) * HEIGHT}`],
  );
  return (
    <svg
      class="sparkline"
      viewBox={`0 -2 ${WIDTH} ${HEIGHT + 4}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      <polyline points={points.join(' ')} />
    </svg>
  );
}
