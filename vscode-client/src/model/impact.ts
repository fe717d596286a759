/** How much an action changes, in a word, by its score from 0 to 1; the kernel's command line colours alike. */
export function impactWord(score: number): "low" | "medium" | "high" {
  return score < 0.3 ? "low" : score < 0.7 ? "medium" : "high";
}

/** `low impact (0.04)` */
export function impactText(score: number): string {
  return `${impactWord(score)} impact (${score.toFixed(2)})`;
}
