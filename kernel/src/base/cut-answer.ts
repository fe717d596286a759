/** Why an answer ends early: it reached the model's output limit, or the provider withheld the rest. */
export type AnswerCut = "length" | "filtered";

/** Returns the note for a person that stands behind an answer that ends early. */
export function cutWords(cut: AnswerCut): string {
  return cut === "length"
    ? "The answer ends here because it reached the model's output limit. Ask it to continue."
    : "The answer ends here because the model's provider withheld the rest.";
}
