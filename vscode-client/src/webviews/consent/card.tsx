import type { ComponentChildren, VNode } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import {
  cardState,
  choiceFor,
  isTicked,
  toggleCard,
  toggleFolder,
  togglePart,
  type Choice,
} from "../../../../kernel/src/base/consent-choice.ts";
import { fileCountText } from "../../../../kernel/src/base/file-count.ts";
import type { Host } from "../shared/host.ts";
import { Subfolders } from "./folders.tsx";
import type { Card, ConsentContract, Part } from "./messages.ts";
import { ProgramChanges } from "./program.tsx";
import { Said } from "./said.tsx";
import { Tick } from "./tick.tsx";

interface CardProps {
  readonly host: Host<ConsentContract>;
  readonly card: Card;
  readonly choice: Choice;
  onChoice(choice: Choice): void;
  /** Starts expanded; otherwise it is a single row that expands. */
  readonly open: boolean;
}

const tags = { new: "New", changed: "Changed", unchanged: "" } as const;

/** What one extension requests. */
export function CardView({ host, card, choice, onChoice, open }: CardProps): VNode {
  const [isOpen, setOpen] = useState(open);
  const id = useId();
  const state = cardState(choice, card);
  const mine = choiceFor(choice, card);
  const sees = card.parts.filter(({ group }) => group === "see");
  const changes = card.parts.filter(({ group }) => group === "change");
  const others = card.parts.filter(({ group }) => group === "other");
  const part = (each: Part): VNode => (
    <PartRow
      key={each.id}
      part={each}
      isMarked={card.state === "changed"}
      isOn={mine.parts.has(each.id)}
      onToggle={() => onChoice(togglePart(choice, card, each.id))}
    />
  );
  const needsFolder = mine.parts.size > 0 && mine.folders.size === 0 && card.folders.length > 0;
  return (
    <article class="card" aria-labelledby={id} data-waits={card.answered ? undefined : ""}>
      <header class="card-head">
        <TriState
          label={`${card.name}: ${state === "all" ? "everything" : state === "none" ? "nothing" : "a part"} is ticked`}
          state={state}
          onToggle={() => onChoice(toggleCard(choice, card))}
        />
        <div class="grow">
          <h2 class="name" id={id}>
            <Said text={card.name} />
            {card.state !== "unchanged" && <span class="tag">{tags[card.state]}</span>}
          </h2>
          {card.description !== undefined && (
            <p>
              <Said text={card.description} />
            </p>
          )}
          <p class="quiet small">
            <Said text={card.version} /> · <Said text={card.origin} /> · <Said text={card.extension} />
          </p>
          {card.answered && <p class="quiet small">{allowedWords(card)}</p>}
        </div>
        {card.answered && (
          <button type="button" class="secondary" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            {isOpen ? "Hide" : "Show"}
          </button>
        )}
      </header>
      {isOpen && (
        <>
          {card.changes.length > 0 && (
            <div class="banner">
              <strong>Since your last answer</strong>
              <ul>
                {card.changes.map((change) => (
                  <li key={change}>
                    <Said text={change} />
                  </li>
                ))}
              </ul>
            </div>
          )}
          {card.program.fault !== undefined && (
            <p class="problem">
              Its program cannot run: <Said text={card.program.fault} />
            </p>
          )}
          <ProgramChanges host={host} card={card} />
          <div class="grants">
            <Group title="May see">{sees.length === 0 ? <p class="quiet">No file</p> : sees.map(part)}</Group>
            <Group title="May change">
              {changes.length === 0 ? <p class="quiet">Nothing</p> : changes.map(part)}
            </Group>
            {card.folders.length > 0 && (
              <Group title="Where">
                {card.folders.map((folder) => (
                  <div key={folder.path}>
                    <Tick
                      title={folder.title}
                      note={folder.files === undefined ? undefined : fileCountText(folder.files)}
                      isOn={isTicked(mine, folder.path)}
                      tag={card.state === "changed" ? tags[folder.change] : ""}
                      onToggle={() => onChoice(toggleFolder(choice, card, folder.path))}
                    />
                    {folder.requested && (
                      <Subfolders
                        host={host}
                        path={folder.path}
                        mine={mine}
                        onToggle={(path) => onChoice(toggleFolder(choice, card, path))}
                      />
                    )}
                  </div>
                ))}
                {needsFolder && <p class="warn">No folder is ticked: it would see and change no file.</p>}
              </Group>
            )}
            {others.length > 0 && <Group title="May also">{others.map(part)}</Group>}
            <Group title="Cannot" isWide>
              <ul class="cannot">
                {card.cannot.map((each) => (
                  <li key={each}>{each}</li>
                ))}
              </ul>
            </Group>
          </div>
          <Facts card={card} />
        </>
      )}
    </article>
  );
}

function allowedWords({ granted, parts, folders }: Card): string {
  if (!granted) return "Not allowed. It does not run.";
  const missing = parts.filter((part) => !part.granted).length;
  const closed = folders.filter((folder) => folder.requested && !folder.granted).length;
  if (missing === 0 && closed === 0) return "Allowed, and nothing has changed since.";
  return "Allowed in part. It runs without the rest.";
}

interface GroupProps {
  readonly title: string;
  /** Takes a row of its own. */
  readonly isWide?: boolean;
  readonly children: ComponentChildren;
}

function Group({ title, isWide = false, children }: GroupProps): VNode {
  return (
    <fieldset class={isWide ? "wide" : undefined}>
      <legend>{title}</legend>
      {children}
    </fieldset>
  );
}

interface PartProps {
  readonly part: Part;
  /** Marks the part as new; omitted in a card that is new as a whole. */
  readonly isMarked: boolean;
  readonly isOn: boolean;
  onToggle(): void;
}

export function PartRow({ part, isMarked, isOn, onToggle }: PartProps): VNode {
  return (
    <Tick
      title={part.title}
      detail={part.detail}
      small={part.permission}
      isOn={isOn}
      tag={isMarked ? tags[part.change] : ""}
      onToggle={onToggle}
    />
  );
}

interface TriStateProps {
  readonly label: string;
  readonly state: "all" | "some" | "none";
  onToggle(): void;
}

function TriState({ label, state, onToggle }: TriStateProps): VNode {
  const box = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (box.current !== null) box.current.indeterminate = state === "some";
  }, [state]);
  return <input ref={box} type="checkbox" aria-label={label} checked={state === "all"} onChange={onToggle} />;
}

const factTitles = {
  trigger: "Runs",
  mind: "Talks with you",
  tool: "Offers these tools",
  model: "Uses these models",
  host: "May send requests to these hosts",
  memory: "May open these shared memories, if you allow them below",
  file: "Contains these files, and can read them",
  setting: "Has this configuration",
} as const;

/** The facts that concern the extension as a whole. */
function Facts({ card }: { readonly card: Card }): VNode | null {
  const kinds = (Object.keys(factTitles) as (keyof typeof factTitles)[]).filter((kind) =>
    card.facts.some((fact) => fact.kind === kind),
  );
  if (kinds.length === 0) return null;
  return (
    <details>
      <summary>When it runs, and what comes with it</summary>
      {kinds.map((kind) => (
        <section key={kind}>
          <h3>{factTitles[kind]}</h3>
          <ul>
            {card.facts
              .filter((fact) => fact.kind === kind)
              .map((fact) => (
                <li key={fact.text}>
                  <Said text={fact.text} />
                  {card.state === "changed" && fact.change !== "unchanged" && (
                    <span class="tag">Changed</span>
                  )}
                </li>
              ))}
          </ul>
        </section>
      ))}
    </details>
  );
}
