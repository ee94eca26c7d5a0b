/** Checks of what recipes' constructors and calls take, for callers without a type checker. */
import {
  ArgumentError,
  checkFit,
  clientProblems,
  misfits,
  missingFields,
  pathProblems,
  rules,
  type Shape,
  shape,
} from "@zooid/model";

/** For recipes without options. */
const NO_OPTIONS: Shape<object> = shape<object>({});
const SIGNAL: Shape<{ signal: unknown }> = shape<{ signal: unknown }>({ signal: rules.signal });

/** The signal of a call that takes nothing else. @throws ArgumentError */
export function signalOf(what: string, options: { readonly signal?: AbortSignal | undefined }): AbortSignal {
  checkFit(what, options, SIGNAL);
  return options.signal ?? new AbortController().signal;
}

/**
 * Checks the arguments of a recipe's constructor.
 *
 * @param what the class
 * @param required names of options without a default
 * @throws ArgumentError with every problem
 */
export function checkArguments<T>(
  what: string,
  zk: unknown,
  path: unknown,
  options?: unknown,
  expected: Shape<T> | Shape<object> = NO_OPTIONS,
  required: readonly (keyof T & string)[] = [],
): void {
  const problems = [
    ...clientProblems(zk, "the first argument"),
    ...pathProblems(path),
    ...misfits(options, expected),
    ...missingFields<T>(options, expected, required),
  ];
  if (problems.length > 0) throw new ArgumentError(what, problems);
}
