"""Detent as an app of Django.

    INSTALLED_APPS = [..., "detent.contrib.django"]
    DETENT = {"HEROES": ["shop.Order"], "ENTITIES": {"shop.Order": "order"}}

Modules named `workflows` in the installed apps are imported automatically. A view starts a run in its transaction:

    with transaction.atomic():
        order = Order.objects.create(...)
        detent.sync.start(Fulfilment, hero=order, using="default")

Changes of the models in ENTITIES start the rules of these entities, as part of the transaction that changes them.

`manage.py detent_migrate` creates the tables, `manage.py detent_worker` runs the workflows.
"""
