import picocolors from "picocolors";

/** Functions that colour a text; without colours they return it unchanged. */
export type Style = ReturnType<typeof picocolors.createColors>;

export function styleFor(colours: boolean): Style {
  return picocolors.createColors(colours);
}

export const noStyle: Style = styleFor(false);

/** How to render: the colours and the number of columns. */
export interface Surface {
  readonly style: Style;
  /** Columns. */
  readonly width: number;
  /** The terminal draws only ASCII, so any other character of a foreign text is shown by its code. */
  readonly isAscii?: boolean;
}

export const plainSurface: Surface = { style: noStyle, width: 80 };
