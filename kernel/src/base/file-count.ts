/** Counting the files of a folder stops here; this count is shown as "or more". */
export const maxCountedFiles = 100_000;

/** Returns the count shown beside a folder that a person may open to an agent: `214 files`. */
export function fileCountText(files: number): string {
  const count = files.toLocaleString("en");
  if (files >= maxCountedFiles) return `${count} files or more`;
  return `${count} ${files === 1 ? "file" : "files"}`;
}
