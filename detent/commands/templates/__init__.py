"""Commands on templates: those of workflows, and those of documents."""
