import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { isTicked, type CardChoice } from "../../../../kernel/src/base/consent-choice.ts";
import { visibleText } from "../../../../kernel/src/base/visible-text.ts";
import { useAsked } from "../shared/hooks.ts";
import type { Host } from "../shared/host.ts";
import type { ConsentContract } from "./messages.ts";
import { Tick } from "./tick.tsx";

interface SubfoldersProps {
  readonly host: Host<ConsentContract>;
  readonly path: string;
  readonly mine: CardChoice;
  onToggle(path: string): void;
}

/** Lists the folders inside one, to grant some of them instead of all of it. */
export function Subfolders({ host, path, mine, onToggle }: SubfoldersProps): VNode {
  const [isOpen, setOpen] = useState(false);
  return (
    <div class="inside">
      <button type="button" class="link" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {isOpen ? "Hide the folders inside" : "Only some folders inside…"}
      </button>
      {isOpen && <Names host={host} path={path} mine={mine} onToggle={onToggle} />}
    </div>
  );
}

function Names({ host, path, mine, onToggle }: SubfoldersProps): VNode {
  const { asked } = useAsked(host, "subfolders", { path });
  if (asked.kind === "loading") return <p class="quiet">Looking…</p>;
  if (asked.kind === "failed") return <p class="problem">{asked.message}</p>;
  const { names, more } = asked.value;
  const isWhole = isTicked(mine, path);
  return (
    <>
      {names.length === 0 && <p class="quiet">There is no folder inside.</p>}
      {isWhole && names.length > 0 && (
        <p class="quiet small">Untick the folder above to choose among these.</p>
      )}
      {names.map((name) => {
        const inside = path === "." ? name : `${path}/${name}`;
        return (
          <div key={name}>
            <Tick
              title={visibleText(name)}
              isOn={isTicked(mine, inside)}
              disabled={isWhole}
              onToggle={() => onToggle(inside)}
            />
            {!isTicked(mine, inside) && (
              <Subfolders host={host} path={inside} mine={mine} onToggle={onToggle} />
            )}
          </div>
        );
      })}
      {more > 0 && (
        <p class="quiet">{more} more folders are not listed; name them under locations in lares.yaml.</p>
      )}
    </>
  );
}
