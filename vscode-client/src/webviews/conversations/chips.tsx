import type { VNode } from "preact";
import { useMemo } from "preact/hooks";
import { bytesOfBase64 } from "../../../../kernel/src/base/pictures.ts";
import { pageLabel } from "../shared/label.ts";
import { size } from "../shared/size.ts";
import { Icon } from "./icon.tsx";
import type { Attached } from "./messages.ts";
import { addressOf, type Picture } from "./pasted.ts";
import { fileWords, pictureWords } from "./words.ts";

/** The files and pictures of a message, each with a button that removes it. */
export function Chips({
  attached,
  onRemove,
}: {
  readonly attached: readonly Attached[];
  readonly onRemove: (index: number) => void;
}): VNode | null {
  if (attached.length === 0) return null;
  return (
    <ul class="chips" aria-label="Sent with the message">
      {attached.map((one, index) => {
        const words = pageLabel(wordsOf(one), 200);
        return (
          <li key={index} class="chip">
            {one.kind === "picture" ? (
              <Thumbnail picture={one} words={words} />
            ) : (
              <Icon name={one.kind === "file" ? "file" : "quote"} />
            )}
            <bdi>{words}</bdi>
            <button
              type="button"
              class="button icon-only tiny"
              aria-label={`Remove ${words}`}
              onClick={() => onRemove(index)}
            >
              <Icon name="close" />
            </button>
          </li>
        );
      })}
    </ul>
  );
}

/** Drawn from the bytes that the person gave, and never from an address. */
function Thumbnail({ picture, words }: { readonly picture: Picture; readonly words: string }): VNode {
  const address = useMemo(() => addressOf(picture), [picture]);
  return address === null ? <Icon name="picture" /> : <img class="thumbnail" src={address} alt={words} />;
}

function wordsOf(one: Attached): string {
  switch (one.kind) {
    case "file":
      return fileWords(one.path, one.range);
    case "quote":
      return one.title;
    case "picture":
      return `${one.name === "" ? pictureWords(one.mediaType) : one.name}, ${size(bytesOfBase64(one.base64))}`;
  }
}
