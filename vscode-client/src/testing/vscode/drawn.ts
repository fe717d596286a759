/** Text that the client gave to a part of the editor that draws more than text, and the file that gave it. */
export interface DrawnText {
  readonly file: string;
  readonly surface: string;
  readonly text: string;
}

/** What was drawn since `seen.forget()`. */
export const drawn: DrawnText[] = [];

/** The file of the client that called, below `src/`. */
function callerFile(): string {
  const frames = (new Error("for its stack").stack ?? "").split("\n");
  const path = frames
    .map((frame) => /vscode-client\/src\/([^?:)]+)/.exec(frame)?.[1])
    .find((found) => found !== undefined && !/^testing\/vscode[./]/.test(found));
  return path ?? "";
}

export function draw(surface: string, ...texts: readonly unknown[]): void {
  const file = callerFile();
  for (const text of texts) if (typeof text === "string") drawn.push({ file, surface, text });
}

/** Every text of a list to pick from, and of what is around it. */
export function drawPick(items: readonly unknown[], options: unknown): void {
  for (const item of [...items, options]) {
    if (typeof item !== "object" || item === null) continue;
    for (const key of ["label", "description", "detail", "title", "placeHolder", "prompt", "placeholder"])
      draw("quick pick", (item as Record<string, unknown>)[key]);
  }
}
