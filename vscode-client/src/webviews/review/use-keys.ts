import { useEffect, useRef } from "preact/hooks";
import { commandOf, type KeyCommand, type Place } from "./keys.ts";

/** Calls `obey` with the command of each key that the page knows. */
export function useKeys(obey: (command: KeyCommand) => void): void {
  const latest = useRef(obey);
  latest.current = obey;
  useEffect(() => {
    // On the document, so that keys work before anything on the page has the focus.
    const onKeyDown = (event: KeyboardEvent): void => {
      const command = commandOf(event, placeOf(event.target));
      if (command === undefined || event.defaultPrevented) return;
      event.preventDefault();
      latest.current(command);
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, []);
}

/** Returns where a key was pressed. */
function placeOf(target: EventTarget | null): Place {
  if (!(target instanceof Element)) return "list";
  if (target.closest("textarea, select, input:not([type=checkbox]):not([type=radio])") !== null)
    return "text";
  if (target.closest(".panel, .batch-reject") !== null) return "panel";
  return target.closest("button, input, a") === null ? "list" : "control";
}
