/** The colours that a cluster may have in the dashboard, as hues. The page loads this file too. */
export const CLUSTER_HUES = {
  red: 27,
  orange: 48,
  yellow: 80,
  green: 152,
  teal: 205,
  blue: 256,
  violet: 295,
};

export const CLUSTER_COLORS = Object.keys(CLUSTER_HUES) as (keyof typeof CLUSTER_HUES)[];
