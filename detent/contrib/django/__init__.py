"""Detent as an app of Django.

    INSTALLED_APPS = [..., "detent.contrib.django"]
    DETENT = {"HEROES": ["shop.Order"]}

Modules named `workflows` of the installed apps are loaded by themselves. A view starts a run inside its transaction:

    with transaction.atomic():
        order = Order.objects.create(...)
        detent.sync.start(Fulfilment, hero=order, using="default")

`manage.py detent_migrate` makes the tables, `manage.py detent_worker` runs the workflows.
"""
