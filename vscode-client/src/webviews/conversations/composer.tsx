import type { VNode } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { failureOf, useSettled } from "../shared/hooks.ts";
import type { Host } from "../shared/host.ts";
import { pageLabel } from "../shared/label.ts";
import { line } from "../shared/text.ts";
import { commandIn, fitting, moved, tokenAt, withoutToken } from "./completion.ts";
import { Chips } from "./chips.tsx";
import { Icon } from "./icon.tsx";
import { maxDraftCharacters, type Attached, type ConversationsContract } from "./messages.ts";
import { picturesIn, readPictures, withPictures } from "./pasted.ts";

export interface Draft {
  readonly text: string;
  readonly attached: readonly Attached[];
}
export const noDraft: Draft = { text: "", attached: [] };

interface Offer {
  readonly value: string;
  readonly words: string;
}

interface ComposerProps {
  readonly host: Host<ConversationsContract>;
  readonly agent: string;
  readonly draft: Draft;
  readonly onDraft: (draft: Draft) => void;
  readonly onSend: (draft: Draft) => void;
  readonly onCommand: (name: string, text: string) => void;
  /** The person's sent messages, newest last. */
  readonly sent: readonly string[];
  readonly isWorking: boolean;
  readonly onStop: () => void;
  readonly models: readonly string[];
  readonly model: string;
  readonly onModel: (model: string) => void;
  /** Increases each time the text field is to have the focus. */
  readonly focus: number;
}

/** Where a person writes: Enter sends, at once, whatever runs. */
export function Composer(props: ComposerProps): VNode {
  const { host, agent, draft, onDraft, onSend, onCommand, sent, isWorking, onStop } = props;
  const field = useRef<HTMLTextAreaElement>(null);
  const [cursor, setCursor] = useState(0);
  const [isClosed, setClosed] = useState(false);
  const [chosen, setChosen] = useState(0);
  const [back, setBack] = useState(0);
  /** Why a picture was not attached. */
  const [refusal, setRefusal] = useState<string>();
  /** The draft as it is when a file was read. */
  const latest = useRef(draft);
  latest.current = draft;
  const token = tokenAt(draft.text, cursor);
  const { offers, known } = useOffers(host, agent, token?.kind, token?.text ?? "");
  const isOpen = token !== undefined && !isClosed && offers.length > 0;
  useLayoutEffect(() => field.current?.focus(), [props.focus]);
  useEffect(() => setChosen(0), [token?.kind, token?.text]);

  const write = (text: string, at = text.length): void => {
    onDraft({ ...draft, text: text.slice(0, maxDraftCharacters) });
    setCursor(at);
    setClosed(false);
    requestAnimationFrame(() => field.current?.setSelectionRange(at, at));
  };
  const attach = (attached: Attached): void => {
    if (token === undefined) return;
    onDraft({ text: withoutToken(draft.text, token), attached: [...draft.attached, attached] });
    setCursor(token.start);
    field.current?.focus();
  };
  const take = (offer: Offer | undefined): void => {
    if (offer === undefined || token === undefined) return;
    if (token.kind === "file") attach({ kind: "file", path: offer.value });
    else write(`/${offer.value} `);
  };
  const send = (): void => {
    if (draft.text.trim() === "" && draft.attached.length === 0) return;
    setBack(0);
    setRefusal(undefined);
    const command = commandIn(draft.text, known);
    if (command !== undefined && draft.attached.length === 0) onCommand(command.name, command.text);
    else onSend(draft);
    setCursor(0);
  };
  const addPictures = (event: Event, data: DataTransfer | null): void => {
    const files = picturesIn(data);
    if (files.length === 0) return;
    event.preventDefault();
    readPictures(files).then(
      (pictures) => {
        const { attached, refusal: why } = withPictures(latest.current.attached, pictures);
        setRefusal(why);
        onDraft({ ...latest.current, attached });
      },
      () => setRefusal("The picture cannot be read."),
    );
  };
  const recall = (by: number): void => {
    const at = Math.max(0, Math.min(sent.length, back + by));
    setBack(at);
    write(at === 0 ? "" : (sent.at(-at) ?? ""));
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.isComposing) return;
    const { key } = event;
    if (isOpen && (key === "ArrowDown" || key === "ArrowUp"))
      setChosen(moved(chosen, key === "ArrowDown" ? 1 : -1, offers.length));
    else if (isOpen && (key === "Enter" || key === "Tab") && !event.shiftKey) take(offers[chosen]);
    else if (isOpen && key === "Escape") setClosed(true);
    else if (key === "Enter" && !event.shiftKey) send();
    else if (key === "Escape" && isWorking) onStop();
    else if (
      key === "ArrowUp" &&
      (draft.text === "" || (back > 0 && cursor === draft.text.length)) &&
      back < sent.length
    )
      recall(1);
    else if (key === "ArrowDown" && back > 0 && cursor === draft.text.length) recall(-1);
    else return;
    event.preventDefault();
  };
  const look = ({ currentTarget }: { readonly currentTarget: HTMLTextAreaElement }): void =>
    setCursor(currentTarget.selectionStart);
  return (
    <div class="composer">
      {isOpen && (
        <ul
          id="offers"
          class="offers"
          role="listbox"
          aria-label={token.kind === "file" ? "Files" : "Commands"}
        >
          {offers.map((offer, index) => (
            <li
              key={offer.value}
              id={`offer-${index}`}
              role="option"
              aria-selected={index === chosen}
              // Before the field loses the focus.
              onMouseDown={(event) => {
                event.preventDefault();
                take(offer);
              }}
            >
              <b>
                <bdi>
                  {token.kind === "file" ? "" : "/"}
                  {pageLabel(offer.value, 300)}
                </bdi>
              </b>
              {offer.words !== "" && <span>{line(offer.words, 200)}</span>}
            </li>
          ))}
        </ul>
      )}
      <div
        class="composer-box"
        onDragOver={(event) => {
          if (event.dataTransfer?.types.includes("Files") === true) event.preventDefault();
        }}
        onDrop={(event) => addPictures(event, event.dataTransfer)}
      >
        <Chips
          attached={draft.attached}
          onRemove={(index) => {
            onDraft({ ...draft, attached: draft.attached.filter((_, at) => at !== index) });
            field.current?.focus();
          }}
        />
        {refusal !== undefined && (
          <p class="small" role="alert">
            {refusal}
          </p>
        )}
        <textarea
          ref={field}
          rows={2}
          aria-label="Message"
          placeholder="Message; @ names a file, / a command; paste or drop pictures"
          aria-autocomplete="list"
          {...(isOpen ? { "aria-controls": "offers", "aria-activedescendant": `offer-${chosen}` } : {})}
          maxLength={maxDraftCharacters}
          value={draft.text}
          onInput={({ currentTarget }) => {
            setBack(0);
            setClosed(false);
            setCursor(currentTarget.selectionStart);
            onDraft({ ...draft, text: currentTarget.value });
          }}
          onKeyDown={onKeyDown}
          onPaste={(event) => addPictures(event, event.clipboardData)}
          onKeyUp={look}
          onClick={look}
        />
        <div class="row composer-row">
          <button
            type="button"
            class="button icon-only"
            title="Add a file"
            aria-label="Add a file"
            onClick={() => {
              const text = draft.text === "" || /\s$/.test(draft.text) ? `${draft.text}@` : `${draft.text} @`;
              write(text);
              field.current?.focus();
            }}
          >
            <Icon name="plus" />
          </button>
          <select
            class="model"
            aria-label="Model"
            title="Model"
            value={props.models.includes(props.model) ? props.model : ""}
            onChange={({ currentTarget }) => props.onModel(currentTarget.value)}
          >
            <option value="">Usual model</option>
            {props.models.map((model) => (
              <option key={model} value={model}>
                {line(model, 80)}
              </option>
            ))}
          </select>
          <span class="grow" />
          {isWorking && (
            <button type="button" class="button" onClick={onStop}>
              <Icon name="stop" />
              Stop
            </button>
          )}
          <button type="button" class="button primary" onClick={send}>
            <Icon name="send" />
            Send
          </button>
        </div>
      </div>
    </div>
  );
}

/** Returns what fits the token: paths of the workspace, or commands of the agent. */
function useOffers(
  host: Host<ConversationsContract>,
  agent: string,
  kind: "file" | "command" | undefined,
  text: string,
): { readonly offers: readonly Offer[]; readonly known: readonly { readonly name: string }[] } {
  const [commands, setCommands] = useState<readonly { name: string; title: string; description: string }[]>(
    [],
  );
  const [paths, setPaths] = useState<readonly string[]>([]);
  const sought = useSettled(kind === "file" ? text : "", 120);
  useEffect(() => {
    // A kernel without commands has none to offer.
    host.ask("commands", { agent }).then(
      (found) => setCommands(found.commands),
      () => setCommands([]),
    );
  }, [host, agent]);
  useEffect(() => {
    if (kind !== "file") return;
    let isCurrent = true;
    host.ask("paths", { text: sought }).then(
      (found) => isCurrent && setPaths(found.paths),
      (error: unknown) => {
        failureOf(error);
        if (isCurrent) setPaths([]);
      },
    );
    return () => {
      isCurrent = false;
    };
  }, [host, kind, sought]);
  const offers =
    kind === "file"
      ? // The paths may still be those for what was written before.
        fitting(paths, text).map((path) => ({ value: path, words: "" }))
      : kind === "command"
        ? commands
            .filter(({ name }) => name.startsWith(text))
            .map(({ name, title, description }) => ({
              value: name,
              words: [title, description].filter(Boolean).join(": "),
            }))
        : [];
  return { offers, known: commands };
}
