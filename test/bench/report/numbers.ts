/** Reads the numbers out of a row's texts, so that runs can be compared and plotted; see `Row` for the form. */

interface Numbers {
  readonly number: number | null;
  readonly unit: string | null;
  readonly baselineNumber: number | null;
  /** To the baseline. As the row says it, else computed where both have one unit. */
  readonly ratio: number | null;
}

interface Quantity {
  readonly number: number;
  readonly unit: string;
}

/** No digit of a name, such as that of pm2. */
const QUANTITY = /(?<![\w.,-])-?\d[\d,]*(?:\.\d+)?/;
/** What ends a unit: a second number, or words about the first. */
const END_OF_UNIT = /[,;(]| [/+] | and /;
const RATIO = /(?<![\w.,-])(\d[\d,]*(?:\.\d+)?) x(?!\w)/;
const RATE = /(?:\S+\/s|per second)(?=$|[ ,:;)])/;

export function numbersOf(row: {
  readonly figure: string;
  readonly value: string;
  readonly baseline: string;
}): Numbers {
  const value = quantityIn(row.value);
  const baseline = quantityIn(row.baseline.replace(/^.*?: /, ''));
  const said = RATIO.exec(row.value)?.[1];
  const computed =
    value !== undefined && baseline !== undefined && value.unit === baseline.unit && baseline.number !== 0
      ? value.number / baseline.number
      : null;
  return {
    number: value?.number ?? null,
    unit: value === undefined ? null : value.unit || (RATE.exec(row.figure)?.[0] ?? null),
    baselineNumber: baseline?.number ?? null,
    ratio: said === undefined ? computed : numberOf(said),
  };
}

function quantityIn(text: string): Quantity | undefined {
  const found = QUANTITY.exec(text);
  if (found === null) return undefined;
  const rest = text.slice(found.index + found[0].length);
  return { number: numberOf(found[0]), unit: (rest.split(END_OF_UNIT)[0] ?? '').trim() };
}

function numberOf(text: string): number {
  return Number(text.replaceAll(',', ''));
}
