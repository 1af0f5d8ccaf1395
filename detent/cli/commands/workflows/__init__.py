"""Commands on saved workflows, and on the templates of workflows and documents."""
