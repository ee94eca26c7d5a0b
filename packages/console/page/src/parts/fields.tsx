import type { ComponentProps } from "preact";

interface LabelProps {
  readonly label: string;
  /** The label stands before its field, not above it. */
  readonly isInline?: boolean;
}

type TextFieldProps = LabelProps & ComponentProps<"input"> & { readonly onText: (text: string) => void };

export function TextField({ label, isInline, onText, ...attributes }: TextFieldProps) {
  return (
    <label class={isInline ? "inline" : undefined}>
      {label}
      <input {...attributes} onInput={(event) => onText(event.currentTarget.value)} />
    </label>
  );
}

interface SearchFieldProps {
  readonly label: string;
  readonly placeholder?: string;
  readonly value: string;
  readonly onText: (text: string) => void;
}

/** The filter of a list. */
export function SearchField(props: SearchFieldProps) {
  return <TextField type="search" isInline spellcheck={false} {...props} />;
}

interface CheckFieldProps {
  readonly label: string;
  readonly isChecked: boolean;
  readonly onChange: (isChecked: boolean) => void;
}

export function CheckField({ label, isChecked, onChange }: CheckFieldProps) {
  return (
    <label class="inline">
      <input type="checkbox" checked={isChecked} onChange={(event) => onChange(event.currentTarget.checked)} />
      {label}
    </label>
  );
}

interface SelectFieldProps<T extends string> extends LabelProps {
  readonly value: T;
  readonly options: readonly { readonly id: T; readonly label: string }[];
  readonly onChange: (id: T) => void;
}

export function SelectField<T extends string>({ label, isInline, value, options, onChange }: SelectFieldProps<T>) {
  const choose = (id: string): void => {
    const option = options.find((each) => each.id === id);
    if (option !== undefined) onChange(option.id);
  };
  return (
    <label class={isInline ? "inline" : undefined}>
      {label}
      <select value={value} onChange={(event) => choose(event.currentTarget.value)}>
        {options.map(({ id, label: text }) => (
          <option key={id} value={id}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}
