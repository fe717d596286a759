import picocolors from "picocolors";

/** Colours as functions from text to text; all of them leave it as it is where colours are off. */
export type Style = ReturnType<typeof picocolors.createColors>;

export function styleFor(colours: boolean): Style {
  return picocolors.createColors(colours);
}

export const noStyle: Style = styleFor(false);

/** How something is shown: with which colours, in how many columns. */
export interface Surface {
  readonly style: Style;
  /** Columns. */
  readonly width: number;
  /** The terminal draws ASCII only, so any other character of a foreign text is shown by its code. */
  readonly isAscii?: boolean;
}

export const plainSurface: Surface = { style: noStyle, width: 80 };
