import type { VNode } from "preact";
import { keyHelp } from "./keys.ts";

interface KeyHelpProps {
  readonly isOpen: boolean;
  readonly onToggle: () => void;
}

/** The keys of the page: the most important ones, and all of them while it is open. */
export function KeyHelp({ isOpen, onToggle }: KeyHelpProps): VNode {
  return (
    <>
      <p class="keys">
        {(
          [
            ["↓ ↑", "move"],
            ["A", "approve"],
            ["R", "reject"],
            ["Enter", "show"],
            ["Space", "select"],
            ["E", "edit"],
            ["U", "undo"],
          ] as const
        ).map(([key, words]) => (
          <span key={key}>
            <kbd>{key}</kbd> {words}
          </span>
        ))}
        <button type="button" class="button plain small" aria-expanded={isOpen} onClick={onToggle}>
          <kbd>?</kbd> all keys
        </button>
      </p>
      {isOpen && (
        <dl class="key-help">
          {keyHelp.map(([keys, words]) => (
            <div key={words}>
              <dt>
                {keys.map((key) => (
                  <kbd key={key}>{key}</kbd>
                ))}
              </dt>
              <dd>{words}</dd>
            </div>
          ))}
        </dl>
      )}
    </>
  );
}
