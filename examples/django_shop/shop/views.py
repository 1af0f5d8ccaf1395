"""The views of the shop. An order and its run are one transaction: both are stored, or neither."""

import json

from django.db import transaction
from django.http import JsonResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from detent import sync
from shop.models import Order
from shop.workflows import Fulfilment


def place_order(item):
    """Create an order and start the run that fulfils it."""
    order = Order.objects.create(item=item)
    order.run = sync.start(Fulfilment, hero=order, using="default").id
    order.save(update_fields=["run"])
    return order


@csrf_exempt
@require_POST
@transaction.atomic
def create(request):
    order = place_order(json.loads(request.body)["item"])
    return JsonResponse({"order": order.pk, "run": order.run}, status=201)


@csrf_exempt
@require_POST
def create_and_fail(request):
    """Fail the payment after the start of the run. The order and the run are rolled back."""
    try:
        with transaction.atomic():
            order = place_order(json.loads(request.body)["item"])
            raise PaymentFailed(order.run)
    except PaymentFailed as error:
        return JsonResponse({"error": "payment failed", "run": str(error)}, status=402)


def show(request, number):
    order = get_object_or_404(Order, pk=number)
    return JsonResponse({"item": order.item, "status": order.status, "run": order.run})


class PaymentFailed(Exception):
    """The card was declined."""
