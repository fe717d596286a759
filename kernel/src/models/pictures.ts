import type { ModelMessage } from "../base/vocabulary/model.ts";
import type { ProviderSettings } from "../base/vocabulary/model-settings.ts";
import { dialects } from "./dialect.ts";

/** Models of providers whose other models take pictures. */
const textOnly: Partial<Readonly<Record<ProviderSettings["api"], RegExp>>> = {
  anthropic: /^claude-(?:2|instant)/,
  openai: /^(?:gpt-3\.5|gpt-4(?:$|-\d|-32k)|o1-(?:mini|preview)|o3-mini|gpt-oss|davinci|babbage)/,
  google: /^(?:gemini-1\.0-pro$|gemma-(?:2|3-1b)|text-|aqa)/,
};

const openAiHost = "https://api.openai.com/";

/**
 * Returns whether a model takes pictures; undefined if nothing is known about it. `listed` is what its provider reports; the
 * person's document comes first.
 */
export function takesPictures(
  { api, baseUrl = "", images }: ProviderSettings,
  name: string,
  listed: boolean | undefined,
): boolean | undefined {
  if (!dialects[api].images) return false;
  const known = images ?? listed;
  if (known !== undefined) return known;
  switch (api) {
    case "anthropic":
    case "openai":
    case "google":
      return textOnly[api]?.test(name) !== true;
    // Other servers speak it too, with models of any kind.
    case "openai-chat":
      return `${baseUrl}/`.startsWith(openAiHost) ? textOnly.openai?.test(name) !== true : undefined;
    case "scripted":
      return true;
    case "openai-compatible":
    case "ollama":
    case "llama":
    case "editor":
      return undefined;
  }
}

/** Returns whether a message has the bytes of a picture: up to megabytes that are needed for one request only. */
export function hasPictureBytes(message: ModelMessage): boolean {
  return message.role === "user" && message.parts.some((part) => part.type === "image" && part.base64 !== "");
}
