/** One field of a form that a JSON Schema describes. */
import { CodeField, SelectField, TextField, Tick } from "../field";
import type { FormField } from "./fields";

interface Props {
  field: FormField;
  text: string;
  problem: string | undefined;
  onText: (text: string) => void;
}

export function SchemaField({ field, text, problem, onText }: Props) {
  const label = field.required ? field.label : `${field.label} (optional)`;
  const hint = [field.hint, field.example ? `For example ${field.example.replaceAll("\n", ", ")}` : ""].filter(Boolean).join(". ");
  const framed = { label, hint: hint || undefined, problem };
  if (field.kind === "boolean") return <Tick label={label} checked={text === "true"} onTick={(on) => onText(String(on))} />;
  if (field.kind === "choice") {
    return (
      <SelectField {...framed} value={text} onChange={(event) => onText(event.currentTarget.value)}>
        {!field.required && <option value="" />}
        {field.required && text === "" && <option value="">Choose one</option>}
        {field.choices.map((one) => (
          <option key={one} value={one}>
            {one}
          </option>
        ))}
      </SelectField>
    );
  }
  if (field.kind === "lines" || field.kind === "json") return <CodeField {...framed} value={text} rows={3} onText={onText} />;
  return <TextField {...framed} value={text} inputMode={field.kind === "number" ? "decimal" : undefined} onChange={(event) => onText(event.currentTarget.value)} />;
}
