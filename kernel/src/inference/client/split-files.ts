/** Files of a model that is split; a name may not make the kernel list more. */
const maxParts = 256;

/** Returns all files of a model by its first one: "qwen-00001-of-00003.gguf" is followed by two more. */
export function splitFiles(file: string): readonly [string, ...string[]] {
  const [, stem = "", digits = ""] = /^(.*-)00001-of-(\d{5})\.gguf$/s.exec(file) ?? [];
  const count = Number(digits);
  if (stem === "" || count < 2 || count > maxParts) return [file];
  const others = Array.from(
    { length: count - 1 },
    (_, at) => `${stem}${String(at + 2).padStart(5, "0")}-of-${digits}.gguf`,
  );
  return [file, ...others];
}
